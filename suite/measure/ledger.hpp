// SPDX-License-Identifier: Apache-2.0
// The ledger of one checkpoint: what was read, and the pure function that sets it out as terms and equations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "results-schema/types/memory.hpp"

namespace assay::measure {

// A reading in bytes, or the reason why there is none. `source` names where it was read.
struct Reading {
  std::optional<std::int64_t> bytes;
  std::string source;
  std::string reason;             // when there is no value
  Basis basis = Basis::observed;  // computed: worked out from other readings
};

// Sums over every segment and block, made without looking at any counter.
struct SnapshotWalk {
  std::int64_t reserved_bytes = 0;      // of all segments
  std::int64_t allocated_bytes = 0;     // blocks that are in use
  std::int64_t pending_bytes = 0;       // blocks freed by the caller and waiting for a stream
  std::int64_t inactive_bytes = 0;      // free pieces of segments that also hold an active block
  std::int64_t free_segment_bytes = 0;  // segments without an active block
  std::int64_t slack_bytes = 0;         // block size minus request, over active blocks
  std::array<std::int64_t, allocator::kCategoryCount> requested_bytes{};  // of active blocks
  bool operator==(const SnapshotWalk&) const = default;
};

SnapshotWalk walk(const std::vector<allocator::SegmentInfo>& segments);

// The allocator's own counters, current values in bytes.
struct AllocatorCounters {
  std::int64_t reserved_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t inactive_bytes = 0;
  std::int64_t requested_bytes = 0;
  std::array<std::int64_t, allocator::kCategoryCount> category_requested_bytes{};
  bool operator==(const AllocatorCounters&) const = default;
};

AllocatorCounters counters_of(const allocator::Statistics& statistics);

// Everything one ledger is built from, read at one synchronised checkpoint; `baseline` alone was read earlier, when
// the allocator held nothing.
struct LedgerReadings {
  std::string checkpoint;      // "model_load:end"
  Reading device_used;         // the device's own reading
  Reading device_walked;       // of this process, by a second way
  Reading device_allocator;    // of the device's books: obtained by the allocator
  Reading device_external;     // of the device's books: obtained around the allocator
  Reading baseline;            // context and modules
  std::string policy;          // of the allocator, names the source of its counters
  bool device_rounds = false;  // the allocator asks for single buffers, which the device rounds up to its own pages
  AllocatorCounters counters;
  SnapshotWalk walked;
};

// The readings of one checkpoint set out as the equations of the memory protocol:
//   device_used = baseline + reserved + external
//   reserved    = active + inactive_pieces + free_segments
//   active      = allocated + pending
//   active      = requested + slack
//   requested   = weights + inputs + kv + activation + workspace + output
// Where the device rounds single buffers up, the first has the term device_rounding beside reserved.
// Each term is read by two independent ways where the platform has them, otherwise it is null with the reason. An
// equation is balanced when left equals right and both readings of each of its terms agree.
Ledger build_ledger(const LedgerReadings& readings);

}  // namespace assay::measure
