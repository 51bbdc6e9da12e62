// SPDX-License-Identifier: Apache-2.0
// Cost of RoPE: x read and written, a 4-byte position a token. A pair: 4 multiplications, 2 additions; a pair of a
// token: power, division, product, sine, cosine.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/rope/params.hpp"

namespace assay::kernels {

inline Cost cost(const RopeParams& p, std::int64_t element_bytes) {
  const std::int64_t pairs = p.tokens * (p.head_dim / 2);
  return {2 * p.tokens * p.heads * p.head_dim * element_bytes + 4 * p.tokens, 6 * pairs * p.heads + 5 * pairs};
}

}  // namespace assay::kernels
