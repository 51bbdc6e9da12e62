// SPDX-License-Identifier: Apache-2.0
// Cost of SwiGLU: two arrays read, one written; negation, exp, addition, division, two multiplications.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/swiglu/params.hpp"

namespace assay::kernels {

inline Cost cost(const SwigluParams& p, std::int64_t element_bytes) {
  return {3 * p.n * element_bytes, 6 * p.n};
}

}  // namespace assay::kernels
