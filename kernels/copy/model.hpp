// SPDX-License-Identifier: Apache-2.0
// Cost of copy: n read, n written.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/copy/params.hpp"

namespace assay::kernels {

inline Cost cost(const CopyParams& p, std::int64_t element_bytes) {
  return {2 * p.n * element_bytes, 0};
}

}  // namespace assay::kernels
