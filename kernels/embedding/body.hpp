// SPDX-License-Identifier: Apache-2.0
// Embedding gather: y[t] = table[ids[t]], one block a token.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/embedding/params.hpp"
#include "kernels/embedding/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct EmbeddingKernel {
  using Params = EmbeddingParams;
  using Storage = T;
  static constexpr const char* kName = "embedding";
  static constexpr SourceVersion kVersion = kEmbeddingVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.width > 0 ? shape_of_rows(p.tokens, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const T* table = static_cast<const T*>(p.table);
    const bool fits = rows_fit<Block>(table, p.width) && rows_fit<Block>(static_cast<const T*>(p.y), p.width);
    for (std::int64_t token = block.block(); token < p.tokens; token += block.blocks()) {
      const T* from = table + static_cast<std::int64_t>(p.ids[token]) * p.width;
      T* to = static_cast<T*>(p.y) + token * p.width;
      for_lanes<T>(block, 0, p.width, fits,
                   [&](auto lanes, std::int64_t i) { copy_bits<decltype(lanes)::value>(to + i, from + i); });
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
