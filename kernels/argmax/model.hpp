// SPDX-License-Identifier: Apache-2.0
// Cost of argmax: rows read, a 4-byte index a row written; one comparison an element.
#pragma once

#include <cstdint>

#include "kernels/argmax/params.hpp"
#include "kernels/common/model.hpp"

namespace assay::kernels {

inline Cost cost(const ArgmaxParams& p, std::int64_t element_bytes) {
  if (p.width == 0) return {};
  return {p.rows * p.width * element_bytes + 4 * p.rows, p.rows * p.width};
}

}  // namespace assay::kernels
