// SPDX-License-Identifier: Apache-2.0
// Recording: a PyTorch snapshot as the segments that existed at its beginning and the events after it, one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "backends/allocator/options.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::replay {

// A block that was live when the recording began. Of one that is freed later only the request is recorded; the size of
// the block is that of the rounded request and, in the large pool, up to 1 MiB more that was not worth splitting off.
struct StartBlock {
  std::size_t requested_bytes = 0;
  std::size_t bytes = 0;
  std::size_t rounded_bytes = 0;
  std::size_t most_slack_bytes = 0;  // what the format leaves open; 0: the size is certain
};

struct StartSegment {
  std::size_t bytes = 0;
  std::uint64_t stream = 0;
  bool small_pool = false;
  std::uint64_t pool_id = 0;  // 0: the default pool
  std::map<std::uint64_t, StartBlock> blocks;
};

struct Recording {
  std::int32_t device = 0;
  std::map<std::uint64_t, StartSegment> segments;
  std::vector<trace::Event> events;           // of this device; their index is the event number
  std::set<std::uint64_t> unexplained_frees;  // events that free what was never handed out, as far as is recorded
  std::vector<trace::RecordedSegment> final_segments;
  std::map<std::uint64_t, std::uint64_t> private_pools;  // begin of a final segment in a private pool -> id
  std::size_t allocations = 0;
  std::size_t segment_allocations = 0;
  std::size_t segment_frees = 0;
  bool expandable = false;  // segments are mapped page by page
};

// Facts: allocators section 3.2. A block freed before it was allocated was live at the beginning, unless the recording
// has something else in its place before, or no segment that could have held it.
[[nodiscard]] Result<Recording> recording_of(const TraceInput& trace, std::int32_t device,
                                             const allocator::Options& options);

}  // namespace assay::replay
