// SPDX-License-Identifier: Apache-2.0
// Parameters of causal attention with grouped query heads, for prefill and for decode.
#pragma once

#include <cstdint>

namespace assay::kernels {

// Query t of a sequence stands at position start + t and sees positions first..start + t, where first is 0, or
// start + t - window + 1 with a sliding window. Position p lies in cache slot p modulo capacity.
struct AttentionParams {
  const void* q;        // [batch, q_tokens, q_heads, head_dim]
  const void* cache_k;  // [batch, capacity, kv_heads, head_dim]
  const void* cache_v;  // like cache_k
  void* y;              // like q
  std::int64_t batch;
  std::int64_t q_tokens;  // 1 in decode
  std::int64_t q_heads;   // a multiple of kv_heads; head h reads kv head h / (q_heads / kv_heads)
  std::int64_t kv_heads;
  std::int64_t head_dim;
  std::int64_t capacity;
  std::int64_t start;
  std::int64_t window;  // 0: none
  float scale;          // usually 1 / sqrt(head_dim)
};

}  // namespace assay::kernels
