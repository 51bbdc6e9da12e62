// SPDX-License-Identifier: Apache-2.0
// The rules of size: rounding, segment sizes, and when a block is split (facts: allocators sections 2.2, 2.3, 2.5).
#include <algorithm>
#include <bit>

#include "backends/allocator/options.hpp"

namespace assay::allocator {
namespace {

// The interval of a size: 0 up to 2 MiB, 1 for [2 MiB, 4 MiB), ... , 15 from 32 GiB on.
std::size_t roundup_interval(std::size_t bytes) {
  const int above = static_cast<int>(std::bit_width(bytes)) - static_cast<int>(std::bit_width(kMiB));
  return static_cast<std::size_t>(std::clamp(above, 0, static_cast<int>(kRoundupIntervals) - 1));
}

}  // namespace

std::size_t round_request(const Options& options, std::size_t bytes) {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const std::size_t divisions = options.roundup_power2_divisions[roundup_interval(bytes)];
  // The step is a power of two of at least 512 bytes, because divisions is one and bytes exceeds 512 times it.
  if (divisions > 1 && bytes > kMinBlockBytes * divisions) return round_up(bytes, std::bit_floor(bytes) / divisions);
  return round_up(bytes, kMinBlockBytes);
}

std::size_t segment_bytes(const Options& options, std::size_t rounded) {
  if (rounded <= kSmallBytes) return kSmallSegmentBytes;
  if (rounded < kMinLargeBytes) return options.large_segment_bytes;
  return round_up(rounded, kRoundLargeBytes);
}

bool should_split(const Options& options, bool small_pool, std::size_t block_bytes, std::size_t rounded) {
  const std::size_t rest = block_bytes - rounded;
  if (small_pool) return rest >= kMinBlockBytes;
  return rounded < options.max_split_bytes && rest > kSmallBytes;
}

}  // namespace assay::allocator
