// SPDX-License-Identifier: Apache-2.0
// The children of a run: one checks kernels, one executes a launch; their lines become events of the run.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"
#include "suite/measure/launch.hpp"
#include "suite/run/recorder.hpp"
#include "suite/run/run.hpp"

namespace assay::run {

struct LaunchJob {
  const Request& request;
  Step step;
  std::int64_t order = 0;
  std::function<void(std::string_view phase)> on_phase;
};

// Starts the launch, records what it says and how it ended. However it ends is no error here. Errors: output when the
// journal cannot be written (the child is stopped), internal when no child can be started.
Result<void> run_launch(const LaunchJob& job, Recorder& recorder);

// Checks the kernels of one device's workloads. False when one is wrong or could not be checked. Errors as above.
Result<bool> check_kernels(const Request& request, std::size_t device, Recorder& recorder);

// The case that stands for checks which did not work as a whole.
[[nodiscard]] Case failed_checks(const Plan& plan, const Error& error);

// What a child of either kind reads from its standard input: indices on the first line, instruments on lines
// of their own, then the plan.
[[nodiscard]] std::string write_launch_request(const measure::LaunchRequest& request);
Result<measure::LaunchRequest> read_launch_request(std::string_view text);

// The last line of a child's words without the program's name in front, for a message.
[[nodiscard]] std::string last_words(std::string_view error_tail);

// For a child before it loads a module: OpenMP's threads sleep between kernels instead of spinning, which on shared
// cores takes time from the threads they wait for (measured on two busy cores: a third of the wall time). A policy that
// the user set stays, and stands in the identity.
void let_waiting_threads_sleep();

}  // namespace assay::run
