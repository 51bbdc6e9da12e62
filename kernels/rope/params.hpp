// SPDX-License-Identifier: Apache-2.0
// Parameters of RoPE, in place, pairing element i with i + head_dim / 2 (the transformers convention).
#pragma once

#include <cstdint>

namespace assay::kernels {

struct RopeParams {
  void* x;                        // [tokens, heads, head_dim]
  const std::int32_t* positions;  // [tokens]
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_dim;  // even
  float theta;
};

}  // namespace assay::kernels
