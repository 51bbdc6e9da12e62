// SPDX-License-Identifier: Apache-2.0
// Cost of RMSNorm: rows read and written, the weight read once. An element: square and add, scale twice; a row: mean,
// epsilon, root, reciprocal.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/rmsnorm/params.hpp"

namespace assay::kernels {

inline Cost cost(const RmsNormParams& p, std::int64_t element_bytes) {
  if (p.rows == 0 || p.width == 0) return {};
  return {(2 * p.rows + 1) * p.width * element_bytes, 4 * p.rows * p.width + 4 * p.rows};
}

}  // namespace assay::kernels
