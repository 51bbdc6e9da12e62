// SPDX-License-Identifier: Apache-2.0
// From a replay's results to the values of its document, and to a Chrome trace of memory over time.
#pragma once

#include <string>
#include <vector>

#include "results-schema/types/replay.hpp"
#include "suite/replay/compare_policies.hpp"
#include "suite/replay/search.hpp"
#include "suite/replay/trace_input.hpp"
#include "suite/replay/verify.hpp"

namespace assay::replay {

// What the trace is; no policy yet.
[[nodiscard]] ReplayedTrace describe(const TraceInput& trace);
[[nodiscard]] ReplayPolicy describe(const PolicyOutcome& outcome);
[[nodiscard]] ReplayBest describe(const Best& best);
[[nodiscard]] ReplayVerification describe(const Verification& verification);

// Counter events in the JSON format of Chrome's tracing and of Perfetto: a process for each trace, policy and device,
// three counters each. Time is the recorder's, or the event's number in microseconds where the trace has no times.
[[nodiscard]] std::string chrome_trace(const std::vector<ReplayedTrace>& traces);

}  // namespace assay::replay
