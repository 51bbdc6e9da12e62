// SPDX-License-Identifier: Apache-2.0
// PyTorch memory snapshots (JSON form) as a starting state and a list of events that an allocator can replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/allocator/options.hpp"

namespace assay::testing {

struct TraceEvent {
  enum class Action { alloc, free_completed, segment_alloc, segment_free };
  Action action = Action::alloc;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::int64_t stream = 0;
  std::size_t index = 0;  // in the recording, ignored events included
};

// A block that was live when the recording began.
struct TraceBlock {
  std::size_t requested_bytes = 0;
  std::size_t bytes = 0;
  bool size_known = false;  // from the final snapshot; else the unsplit slack, at most 1 MiB, is not recorded
  std::size_t gap = 0;      // free bytes behind the rounded request, where the size is not known
};

struct TraceSegment {
  std::size_t bytes = 0;
  std::int64_t stream = 0;
  bool small = false;
  std::map<std::uintptr_t, TraceBlock> blocks;
};

struct Trace {
  std::map<std::uintptr_t, TraceSegment> segments;  // that existed when the recording began
  std::vector<TraceEvent> events;
  std::size_t recorded_events = 0;
  std::size_t allocations = 0;
};

// Recipe: facts allocators section 3.2. Throws std::exception on a file that is no such snapshot. Where a block's size
// is not known and at most 1 MiB of a large segment is free behind it, that gap is taken for its slack.
[[nodiscard]] Trace read_pytorch_trace(const std::string& path);

}  // namespace assay::testing
