// SPDX-License-Identifier: Apache-2.0
// Layout: where the memory of a policy is at one instant, as a bounded map of segments and runs of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "suite/replay/policy_replay.hpp"

namespace assay::replay {

// Blocks of one state, one behind the other.
struct Run {
  std::size_t bytes = 0;
  std::size_t blocks = 0;
  allocator::BlockState state = allocator::BlockState::inactive;
};

struct MappedSegment {
  std::uint64_t address = 0;  // of the simulated device
  std::size_t bytes = 0;
  std::uint64_t stream = 0;  // the recorder's number
  bool small_pool = false;
  bool expandable = false;
  std::size_t active_bytes = 0;
  std::size_t largest_free_bytes = 0;
  std::vector<Run> runs;  // in address order; empty where the bound left them out
};

struct StreamShare {
  std::uint64_t stream = 0;
  std::size_t reserved_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t free_bytes = 0;  // no other stream can have them
};

struct Layout {
  std::size_t requested_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t reserved_bytes = 0;
  std::size_t free_bytes = 0;
  std::size_t free_pieces = 0;
  std::size_t largest_free_bytes = 0;
  std::vector<StreamShare> streams;
  std::vector<MappedSegment> segments;  // in address order, the largest ones where there are too many
  std::size_t segments_left_out = 0;
  std::size_t runs_left_out = 0;

  // The share of the free bytes that is not in the largest piece; 0 where nothing is free.
  [[nodiscard]] double external_fragmentation() const;
};

inline constexpr std::size_t kMostSegments = 512;
inline constexpr std::size_t kMostRuns = 4096;

// A walk over the blocks of the replay's allocator as it is now.
[[nodiscard]] Layout layout_of(const PolicyReplay& replay);

}  // namespace assay::replay
