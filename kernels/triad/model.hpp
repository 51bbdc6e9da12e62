// SPDX-License-Identifier: Apache-2.0
// Cost of triad: two arrays read, one written; a multiplication and an addition an element.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/triad/params.hpp"

namespace assay::kernels {

inline Cost cost(const TriadParams& p, std::int64_t element_bytes) {
  return {3 * p.n * element_bytes, 2 * p.n};
}

}  // namespace assay::kernels
