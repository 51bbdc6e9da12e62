// SPDX-License-Identifier: Apache-2.0
// Parameters of KV append: new keys and values go to slot (start + t) modulo capacity of each sequence.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct KvAppendParams {
  const void* k;  // [batch, new_tokens, kv_heads, head_dim]
  const void* v;  // like k
  void* cache_k;  // [batch, capacity, kv_heads, head_dim]
  void* cache_v;  // like cache_k
  std::int64_t batch;
  std::int64_t new_tokens;
  std::int64_t kv_heads;
  std::int64_t head_dim;
  std::int64_t capacity;  // slots a sequence; new_tokens at least
  std::int64_t start;     // position of the first new token
};

}  // namespace assay::kernels
