// SPDX-License-Identifier: Apache-2.0
// What assay's own forward workload requests: the passes that the run executes, followed without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "suite/estimate/estimate.hpp"

namespace assay::estimate {

struct ExecutedLine {
  std::string name;  // "prefill.activation_peak_bytes"
  Figure bytes;
};

// More steps are not followed one by one: each is a pass of its own.
inline constexpr std::int64_t kMaxFollowedSteps = 4096;

// Requested bytes of every category, for prefill and decode apart: exact, since the run allocates by the same passes.
// One line with a reason where the workload is not one that assay executes.
std::vector<ExecutedLine> executed_lines(const Workload& workload);

}  // namespace assay::estimate
