// SPDX-License-Identifier: Apache-2.0
// Cost of KV append: keys and values read once and written once.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/kv_append/params.hpp"

namespace assay::kernels {

inline Cost cost(const KvAppendParams& p, std::int64_t element_bytes) {
  return {4 * p.batch * p.new_tokens * p.kv_heads * p.head_dim * element_bytes, 0};
}

}  // namespace assay::kernels
