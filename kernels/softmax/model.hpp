// SPDX-License-Identifier: Apache-2.0
// Cost of softmax: rows read and written. An element: comparison, subtraction, exp, addition, division.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/softmax/params.hpp"

namespace assay::kernels {

inline Cost cost(const SoftmaxParams& p, std::int64_t element_bytes) {
  return {2 * p.rows * p.width * element_bytes, 5 * p.rows * p.width};
}

}  // namespace assay::kernels
