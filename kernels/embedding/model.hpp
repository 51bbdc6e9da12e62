// SPDX-License-Identifier: Apache-2.0
// Cost of the embedding gather: one row of the table read and one written a token, and its 4-byte id.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/embedding/params.hpp"

namespace assay::kernels {

inline Cost cost(const EmbeddingParams& p, std::int64_t element_bytes) {
  return {2 * p.tokens * p.width * element_bytes + 4 * p.tokens, 0};
}

}  // namespace assay::kernels
