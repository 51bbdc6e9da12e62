// SPDX-License-Identifier: Apache-2.0
// best_configuration: the options of PyTorch's allocator under which a trace reserves least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/replay/compare_policies.hpp"

namespace assay::replay {

// What a configuration needs on all devices of the trace.
struct Need {
  std::size_t reserved_bytes = 0;  // sum of the peaks
  std::int64_t device_calls = 0;
  bool refused = false;
};

struct Saving {
  std::string option;  // "max_split_size_mb:128"
  std::int64_t reserved_bytes = 0;
  std::int64_t device_calls = 0;
};

struct Best {
  std::string options;  // PYTORCH_CUDA_ALLOC_CONF syntax; empty: the defaults
  std::size_t tried = 0;
  Need need;
  Need of_defaults;
  std::vector<Saving> savings;  // of each option: the same configuration without it
};

// Every combination of expandable_segments, max_split_size_mb (none, 32 to 512), roundup_power2_divisions (none, 2 to
// 16) and, on a device of limited capacity, garbage_collection_threshold (none, 0.6, 0.8). First those that fit, then
// the least reserved bytes, then the fewest device calls, then the fewest options. One pass. Errors: as
// compare_policies.
[[nodiscard]] Result<Best> best_configuration(const TraceInput& trace, std::size_t capacity_bytes);

}  // namespace assay::replay
