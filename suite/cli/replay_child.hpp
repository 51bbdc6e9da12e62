// SPDX-License-Identifier: Apache-2.0
// The replay commands, and replays on a real device: each policy in a child process of its own.
#pragma once

#include <string>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/replay.hpp"
#include "results-schema/types/result.hpp"
#include "suite/replay/policy_list.hpp"
#include "suite/trace/paged_kv.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

struct Context;

void add_replay(CLI::App& app, Context& context);
void add_hidden_replay(CLI::App& app, Context& context);  // __replay: what a child runs

// One entry a policy and device of the trace. A child that crashes or fails is an entry with its `failure`.
// Errors: bad_input of the trace; usage and unsupported of a policy; internal when no child can be started.
Result<std::vector<ReplayOnDevice>> replay_in_children(const std::string& trace, const trace::PagedKvOptions& requests,
                                                       const std::vector<replay::PolicyChoice>& choices,
                                                       const PlannedDevice& device);

}  // namespace assay::cli
