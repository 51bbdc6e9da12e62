// SPDX-License-Identifier: Apache-2.0
// Loops of one block over a range, several elements a step, valid for any number of threads.
#pragma once

#include <cstdint>

#include "kernels/common/storage.hpp"
#include "kernels/common/vendor.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <int N>
struct LaneCount {
  static constexpr int value = N;
};

ASSAY_BOTH constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return b < a ? b : a;
}
ASSAY_BOTH constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Division of counts and positions, which fit 31 bits (only products of them need more): GPUs have no 64-bit division,
// and the subroutine that stands in for it costs registers.
ASSAY_BOTH constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
}
ASSAY_BOTH constexpr std::int64_t remainder(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b));
}

// Whether rows that start at `pointer` and are `width` elements apart can be read kLanes elements at a time.
template <class Block, class T>
ASSAY_DEVICE bool rows_fit(const T* pointer, std::int64_t width) {
  if constexpr (Block::kSerial) {
    return true;
  } else {
    constexpr std::uint64_t kBytes = sizeof(T) * Block::template kLanes<T>;
    return reinterpret_cast<std::uint64_t>(pointer) % kBytes == 0 &&
           static_cast<std::uint64_t>(width) * sizeof(T) % kBytes == 0;
  }
}

// Calls step(LaneCount<N>, i) so that each i of [first, last) is covered once: N = kLanes while `fits` and enough are
// left, else 1. `first` is a multiple of kLanes wherever alignment matters to the caller.
template <class T, class Block, class Step>
ASSAY_DEVICE void for_lanes(const Block& block, std::int64_t first, std::int64_t last, bool fits, const Step& step) {
  constexpr std::int64_t kN = Block::template kLanes<T>;
  const std::int64_t packed_end = fits && last > first ? first + (last - first) / kN * kN : first;
  const std::int64_t thread = block.thread();
  const std::int64_t threads = block.threads();
  for (std::int64_t i = first + thread * kN; i < packed_end; i += threads * kN) {
    step(LaneCount<static_cast<int>(kN)>{}, i);
  }
  for (std::int64_t i = packed_end + thread; i < last; i += threads) step(LaneCount<1>{}, i);
}

// This thread's share of the sum of term(LaneCount<N>, i), a Lanes<N>, over i of [0, n).
template <class T, class Block, class Term>
ASSAY_DEVICE float thread_sum(const Block& block, std::int64_t n, bool fits, const Term& term) {
  constexpr int kN = Block::template kLanes<T>;
  constexpr std::size_t kChains = Block::kSerial ? 4 : 1;  // independent sums hide the latency of one addition
  const std::int64_t packed_end = fits ? n / kN * kN : 0;
  const std::int64_t thread = block.thread();
  const std::int64_t threads = block.threads();
  Lanes<kN> sums[kChains];
  ASSAY_UNROLL
  for (std::size_t c = 0; c < kChains; ++c) sums[c] = spread<kN>(0.0f);
  std::int64_t i = thread * kN;
  const std::int64_t step = threads * kN;
  constexpr std::int64_t kSteps = kChains;
  for (; i + (kSteps - 1) * step < packed_end; i += kSteps * step) {
    ASSAY_UNROLL
    for (std::size_t c = 0; c < kChains; ++c) {
      sums[c] = sums[c] + term(LaneCount<kN>{}, i + static_cast<std::int64_t>(c) * step);
    }
  }
  for (; i < packed_end; i += step) sums[0] = sums[0] + term(LaneCount<kN>{}, i);
  ASSAY_UNROLL
  for (std::size_t c = 1; c < kChains; ++c) sums[0] = sums[0] + sums[c];
  float sum = lane_sum(sums[0]);
  for (i = packed_end + thread; i < n; i += threads) sum += lane_sum(term(LaneCount<1>{}, i));
  return sum;
}

// This thread's share of the largest value(LaneCount<N>, i) over i of [0, n), or `lowest` where it has none.
template <class T, class Block, class Value>
ASSAY_DEVICE float thread_max(const Block& block, std::int64_t n, bool fits, float lowest, const Value& value) {
  constexpr int kN = Block::template kLanes<T>;
  Lanes<kN> packed = spread<kN>(lowest);
  Lanes<1> single = spread<1>(lowest);
  for_lanes<T>(block, 0, n, fits, [&](auto lanes, std::int64_t i) {
    if constexpr (decltype(lanes)::value == kN) {
      packed = larger(packed, value(lanes, i));
    } else {
      single = larger(single, value(lanes, i));
    }
  });
  const float a = lane_max(packed);
  const float b = lane_max(single);
  return b > a ? b : a;
}

// The part of [0, n) that a block of an element-wise kernel owns: contiguous, in multiples of 64 elements.
struct Range {
  std::int64_t first;
  std::int64_t last;
};
template <class Block>
ASSAY_DEVICE Range block_range(const Block& block, std::int64_t n) {
  const std::int64_t share = divide_up(divide_up(n, block.blocks()), 64) * 64;
  const std::int64_t first = smaller(block.block() * share, n);
  return {first, smaller(first + share, n)};
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
