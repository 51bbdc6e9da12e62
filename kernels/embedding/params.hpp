// SPDX-License-Identifier: Apache-2.0
// Parameters of the embedding gather: y[t] = table[ids[t]].
#pragma once

#include <cstdint>

namespace assay::kernels {

struct EmbeddingParams {
  const void* table;        // [vocabulary, width]
  const std::int32_t* ids;  // [tokens], each in [0, vocabulary)
  void* y;                  // [tokens, width]
  std::int64_t tokens;
  std::int64_t width;
  std::int64_t vocabulary;
};

}  // namespace assay::kernels
