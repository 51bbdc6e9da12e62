// SPDX-License-Identifier: Apache-2.0
// least_capacities: the smallest device that holds a trace, for each policy.
#pragma once

#include <cstdint>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/replay/compare_policies.hpp"

namespace assay::replay {

// To the next 2 MiB, in the order of `outcomes`, which are those of an unlimited device. By bisection between the peak
// of the requested bytes and that of the reserved ones, which both certainly decide; in between a flush can change what
// follows, so that the border found is one below which the trace does not fit, not always the only one. What a process
// needs beside its allocator (context, modules, libraries) is not in it. Errors: as compare_policies.
[[nodiscard]] Result<std::vector<std::int64_t>> least_capacities(const TraceInput& trace,
                                                                 const std::vector<PolicyOutcome>& outcomes);

}  // namespace assay::replay
