// SPDX-License-Identifier: Apache-2.0
// verify: a PyTorch recording from its own segments under the rules of `caching`: every address must come out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::replay {

struct Divergence {
  std::uint64_t event = 0;  // index in the device's trace; its length for the final state
  std::string action;       // "alloc", "free_completed", "segment_alloc", "segment_free", "final_state"
  std::string expected;     // as recorded
  std::string got;          // as replayed
};

// A block whose size the format does not record, where it decides: the sizes it may have had.
struct CandidateSizes {
  std::uint64_t address = 0;
  std::size_t requested_bytes = 0;
  std::size_t least_bytes = 0;
  std::size_t most_bytes = 0;  // every multiple of 512 between the two
};

enum class Agreement { matched, diverged, ambiguous };

// One device of the recording.
struct Verification {
  std::int32_t device = 0;
  Agreement agreement = Agreement::matched;
  std::string options;  // of the recorded allocator, as far as they decide
  std::size_t allocations = 0;
  std::size_t allocations_matched = 0;
  std::size_t segment_events = 0;  // allocated and freed by the recorded allocator
  std::size_t segment_events_matched = 0;
  std::size_t blocks_at_beginning = 0;
  std::size_t sizes_inferred = 0;  // block sizes that the recording's own addresses told
  std::optional<Divergence> first_divergence;
  std::vector<CandidateSizes> candidates;  // of an ambiguous one
};

// One entry a device with events. `caching` is seeded with the segments and blocks that existed at the beginning and
// given the recorded addresses of new segments. Where an address shows that a block at the beginning was larger than
// its request, the size is inferred and the replay begun again; a divergence that another size of such a block could
// explain is ambiguous. At the end the recorded final blocks must be there.
// Errors: usage for a trace that is no PyTorch snapshot; unsupported for expandable segments, whose mapping the rules
// of `caching` do not cover; bad_input of the file.
[[nodiscard]] Result<std::vector<Verification>> verify(const TraceInput& trace);

}  // namespace assay::replay
