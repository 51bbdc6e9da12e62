// SPDX-License-Identifier: Apache-2.0
// compare_policies: one trace from empty under several policies, and what each of them needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/replay/layout.hpp"
#include "suite/replay/policy_list.hpp"
#include "suite/replay/policy_replay.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::replay {

// One policy on one device of the trace.
struct PolicyOutcome {
  PolicyChoice choice;
  std::int32_t device = 0;
  Peaks peaks;
  Layout at_peak;  // after the first step with the most reserved bytes
  DeviceCallCounts calls;
  DeviceCallCounts calls_at_beginning;  // of these, for the blocks live before the first event
  std::int64_t retries = 0;             // allocations tried again after the whole cache was returned
  std::uint64_t operations = 0;
  double ns_per_operation = 0;  // of the host, parsing apart; differs from run to run
  std::optional<Refusal> refusal;
  std::vector<SeriesPoint> series;
  std::uint64_t events_per_point = 1;
};

struct Comparison {
  std::size_t capacity_bytes = SimulatedDevice::kUnlimitedBytes;
  bool detailed = true;  // series and layout too: a second pass
};

// By policy, then device. Errors: bad_input of the trace; usage and unsupported of a policy.
[[nodiscard]] Result<std::vector<PolicyOutcome>> compare_policies(const TraceInput& trace,
                                                                  const std::vector<PolicyChoice>& choices,
                                                                  const Comparison& comparison);

}  // namespace assay::replay
