// SPDX-License-Identifier: Apache-2.0
// execute_launch: one workload on one device through the memory protocol, in the process that calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "results-schema/types/document.hpp"
#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/measure/instruments.hpp"

namespace assay::measure {

struct LaunchRequest {
  Plan plan;
  std::size_t device = 0;          // index into plan.devices
  std::size_t workload = 0;        // index into plan.workloads
  std::int64_t order = 0;          // Launch::order, stamped on every entry
  Instruments instruments;         // files of this launch
  std::int64_t slow_permille = 0;  // the self-test: every phase is drawn out by this share of its time, and says so
};

// Takes one entry (PhaseStarted, PhaseFinished, SampleTaken, OutputChecksum); an error stops the launch.
using Emit = std::function<Result<void>(const JournalEntry& entry)>;

// Every phase that ended, well or not, has been emitted when this returns, and what the instruments recorded is kept.
// Errors: out_of_memory, map_limit, fault, unsupported, no_device; the failed phase carries the same failure.
Result<void> execute_launch(const LaunchRequest& request, const Emit& emit);

}  // namespace assay::measure
