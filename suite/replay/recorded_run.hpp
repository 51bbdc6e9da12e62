// SPDX-License-Identifier: Apache-2.0
// run_recording: one replay of a recording from its own segments, up to its end or the first difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "suite/replay/recording.hpp"
#include "suite/replay/verify.hpp"

namespace assay::replay {

// The first difference, and what is needed to judge whether an unknown size explains it.
struct RecordedStop {
  std::uint64_t event = 0;
  Divergence divergence;
  std::uint64_t recorded_address = 0;
  std::uint64_t replayed_address = 0;
  std::size_t rounded_bytes = 0;              // of the request
  std::size_t piece_bytes = 0;                // of the free piece the replay took it from
  std::set<std::uint64_t> live_at_beginning;  // and still live now
};

struct RecordedRun {
  std::size_t allocations_matched = 0;
  std::size_t segment_events_matched = 0;
  std::optional<RecordedStop> stop;  // nothing: all of it came out
};

[[nodiscard]] RecordedRun run_recording(const Recording& recording, const allocator::Options& options);

}  // namespace assay::replay
