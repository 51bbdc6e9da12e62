// SPDX-License-Identifier: Apache-2.0
// KV append: new keys and values go to slot (start + t) modulo capacity, one block a token of a sequence.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/kv_append/params.hpp"
#include "kernels/kv_append/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct KvAppendKernel {
  using Params = KvAppendParams;
  using Storage = T;
  static constexpr const char* kName = "kv_append";
  static constexpr SourceVersion kVersion = kKvAppendVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.kv_heads * p.head_dim > 0 ? shape_of_rows(p.batch * p.new_tokens, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const std::int64_t width = p.kv_heads * p.head_dim;
    const T* k = static_cast<const T*>(p.k);
    const T* v = static_cast<const T*>(p.v);
    T* cache_k = static_cast<T*>(p.cache_k);
    T* cache_v = static_cast<T*>(p.cache_v);
    const bool fits = rows_fit<Block>(k, width) && rows_fit<Block>(v, width) && rows_fit<Block>(cache_k, width) &&
                      rows_fit<Block>(cache_v, width);
    for (std::int64_t row = block.block(); row < p.batch * p.new_tokens; row += block.blocks()) {
      const std::int64_t sequence = quotient(row, p.new_tokens);
      const std::int64_t slot = remainder(p.start + remainder(row, p.new_tokens), p.capacity);
      const std::int64_t from = row * width;
      const std::int64_t to = (sequence * p.capacity + slot) * width;
      for_lanes<T>(block, 0, width, fits, [&](auto lanes, std::int64_t i) {
        constexpr int kN = decltype(lanes)::value;
        copy_bits<kN>(cache_k + to + i, k + from + i);
        copy_bits<kN>(cache_v + to + i, v + from + i);
      });
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
