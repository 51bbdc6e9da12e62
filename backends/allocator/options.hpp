// SPDX-License-Identifier: Apache-2.0
// Options: what PYTORCH_CUDA_ALLOC_CONF can say to the caching and expandable policies, and the rules of size that
// follow from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::allocator {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

// Constants of PyTorch's native allocator (facts: allocators section 2.1).
inline constexpr std::size_t kMinBlockBytes = 512;  // every block is a multiple of it
inline constexpr std::size_t kSmallBytes = kMiB;    // largest request of the small pool
inline constexpr std::size_t kSmallSegmentBytes = 2 * kMiB;
inline constexpr std::size_t kMinLargeBytes = 10 * kMiB;  // from here on a segment has the request's own size
inline constexpr std::size_t kLargeSegmentBytes = 20 * kMiB;
inline constexpr std::size_t kRoundLargeBytes = 2 * kMiB;
inline constexpr std::size_t kLargestRequestBytes = std::size_t{1} << 60;  // more is refused unseen, as in PyTorch
inline constexpr std::size_t kRoundupIntervals = 16;                       // 1 MiB to 2 MiB, ... , 32 GiB and above
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// Which of several free blocks of one size is taken: PyTorch's choice is the lowest address; by creation order of the
// segments the same requests give the same layout whatever addresses the driver hands out.
enum class TieBreak : std::uint8_t { address, creation };

struct Options {
  std::size_t max_split_bytes = kUnlimited;
  std::size_t max_non_split_rounding_bytes = kLargeSegmentBytes;
  std::size_t large_segment_bytes = kLargeSegmentBytes;
  double garbage_collection_threshold = 0;  // share of the allowed memory; 0: off
  double memory_fraction = 0;               // share of the device's memory this allocator may hold; 0: no limit
  std::array<std::size_t, kRoundupIntervals> roundup_power2_divisions{};  // 0 or 1: off
  TieBreak tie_break = TieBreak::address;
  bool expandable = false;           // the policy expandable
  std::size_t least_page_bytes = 0;  // of mapped pages; the device's granularity is a limit of its own
  bool operator==(const Options&) const = default;

  [[nodiscard]] bool splits_limited() const { return max_split_bytes != kUnlimited; }
  [[nodiscard]] bool collects_garbage() const { return memory_fraction > 0 && garbage_collection_threshold > 0; }
};

// Keys: max_split_size_mb (above 20), max_non_split_rounding_mb (above 20, needs max_split_size_mb),
// large_segment_size_mb (from 10, at most max_split_size_mb), roundup_power2_divisions (N or [256:1,512:2,>:8]),
// garbage_collection_threshold (between 0 and 1, needs a fraction), per_process_memory_fraction (above 0, at most 1),
// expandable_segments, backend:native, and Assay's own tie_break (address or creation) and least_page_mb (from 2, needs
// expandable_segments:True).
// PyTorch's keys that move no device memory (pinned_*, release_lock_on_cudamalloc and the like) are accepted and do not
// come back from print_options. The text may begin with the variable: PYTORCH_CUDA_ALLOC_CONF=, PYTORCH_HIP_ALLOC_CONF=
// or PYTORCH_ALLOC_CONF=. An unknown key, one given twice, and one that could have no effect are ErrorCode::usage.
[[nodiscard]] Result<Options> parse_options(std::string_view text);

// The options that differ from the defaults, in the same syntax; parse_options reads it back to the same value.
[[nodiscard]] std::string print_options(const Options& options);

// `bytes` up to the next multiple.
[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}
// Bytes of the block a request needs: a multiple of kMinBlockBytes. `bytes` is at most kLargestRequestBytes.
[[nodiscard]] std::size_t round_request(const Options& options, std::size_t bytes);
// Bytes of the segment a rounded request asks the device for.
[[nodiscard]] std::size_t segment_bytes(const Options& options, std::size_t rounded);
// Whether the rest of a block is worth a block of its own.
[[nodiscard]] bool should_split(const Options& options, bool small_pool, std::size_t block_bytes, std::size_t rounded);

}  // namespace assay::allocator
