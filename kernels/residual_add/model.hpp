// SPDX-License-Identifier: Apache-2.0
// Cost of the residual addition: two arrays read, one written; one addition an element.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/residual_add/params.hpp"

namespace assay::kernels {

inline Cost cost(const ResidualAddParams& p, std::int64_t element_bytes) {
  return {3 * p.n * element_bytes, p.n};
}

}  // namespace assay::kernels
