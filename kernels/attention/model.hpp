// SPDX-License-Identifier: Apache-2.0
// Cost of attention: q read, y written, each cache slot that some query sees read once; 4 head_dim and softmax's 5 a
// query and key seen.
#pragma once

#include <cstdint>

#include "kernels/attention/params.hpp"
#include "kernels/common/model.hpp"

namespace assay::kernels {

// Positions that the query at position start + t sees.
inline std::int64_t seen_by(const AttentionParams& p, std::int64_t t) {
  const std::int64_t position = p.start + t;
  return p.window > 0 && position >= p.window ? p.window : position + 1;
}

inline Cost cost(const AttentionParams& p, std::int64_t element_bytes) {
  if (p.batch == 0 || p.q_tokens == 0) return {};
  std::int64_t pairs = 0;
  for (std::int64_t t = 0; t < p.q_tokens; ++t) pairs += seen_by(p, t);
  // The first query sees the oldest position and the last query the newest; everything between is seen by someone.
  const std::int64_t positions = p.q_tokens - 1 + seen_by(p, 0);
  const std::int64_t query_elements = p.batch * p.q_tokens * p.q_heads * p.head_dim;
  const std::int64_t cache_elements = 2 * p.batch * positions * p.kv_heads * p.head_dim;
  return {(2 * query_elements + cache_elements) * element_bytes, p.batch * p.q_heads * pairs * (4 * p.head_dim + 5)};
}

}  // namespace assay::kernels
