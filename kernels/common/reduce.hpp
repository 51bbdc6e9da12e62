// SPDX-License-Identifier: Apache-2.0
// Reductions over a block: the same result in every thread, in an order that depends on the block's shape alone.
#pragma once

#include <cstdint>

#include "kernels/common/vendor.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Combines one value a thread. Lanes pair up by shuffles (pairs whose partner does not exist are skipped, so that lane
// 0 of each wave still ends with its whole wave), then every thread combines the waves in order. Reached by every
// thread.
template <class Block, class V, class Combine>
ASSAY_DEVICE V block_reduce(const Block& block, V value, const Combine& combine) {
  if constexpr (Block::kSerial) {
    return value;
  } else {
    const std::uint32_t wave = block.wave();
    const std::uint32_t lane = block.thread() % wave;
    const std::uint32_t first = block.thread() - lane;
    const std::uint32_t left = block.threads() - first;
    const std::uint32_t lanes = left < wave ? left : wave;
    for (std::uint32_t mask = 1; mask < wave; mask *= 2) {
      const V other = block.shuffle_xor(value, mask);
      if ((lane ^ mask) < lanes) value = combine(value, other);
    }
    V* scratch = block.template scratch<V>();
    if (lane == 0) scratch[first / wave] = value;
    block.sync();
    V result = scratch[0];
    const std::uint32_t waves = (block.threads() + wave - 1) / wave;
    for (std::uint32_t w = 1; w < waves; ++w) result = combine(result, scratch[w]);
    block.sync();  // the scratch may be used again at once
    return result;
  }
}

template <class Block>
ASSAY_DEVICE float block_sum(const Block& block, float value) {
  return block_reduce(block, value, [](float a, float b) { return a + b; });
}
template <class Block>
ASSAY_DEVICE float block_max(const Block& block, float value) {
  return block_reduce(block, value, [](float a, float b) { return b > a ? b : a; });
}

template <class Block>
ASSAY_DEVICE std::int64_t block_min(const Block& block, std::int64_t value) {
  return block_reduce(block, value, [](std::int64_t a, std::int64_t b) { return b < a ? b : a; });
}

// The sum over one wave, right in its lane 0. Reached by every thread of the wave.
template <class Block>
ASSAY_DEVICE float wave_sum(const Block& block, float value) {
  const std::uint32_t wave = block.wave();
  const std::uint32_t lane = block.thread() % wave;
  const std::uint32_t left = block.threads() - (block.thread() - lane);
  const std::uint32_t lanes = left < wave ? left : wave;
  for (std::uint32_t mask = 1; mask < wave; mask *= 2) {
    const float other = block.shuffle_xor(value, mask);
    if ((lane ^ mask) < lanes) value += other;
  }
  return value;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
