// SPDX-License-Identifier: Apache-2.0
// All policies in one pass, and a second one to the peak of each.
#include "suite/replay/compare_policies.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace assay::replay {
namespace {

using Clock = std::chrono::steady_clock;

struct Runner {
  std::unique_ptr<PolicyReplay> replay;
  Clock::duration spent{0};
};

Result<std::vector<Runner>> make_runners(const TraceInput& trace, const std::vector<PolicyChoice>& choices,
                                         const Comparison& comparison, bool with_series) {
  std::vector<Runner> runners;
  for (const PolicyChoice& choice : choices)
    for (std::int32_t device = 0; device < trace.devices(); ++device) {
      auto made = PolicyReplay::create(choice, device, comparison.capacity_bytes, with_series);
      if (!made) return made.error();
      runners.push_back({std::move(*made)});
    }
  return runners;
}

Result<void> run(const TraceInput& trace, std::vector<Runner>& runners) {
  for (Runner& runner : runners) {
    const auto start = Clock::now();
    runner.replay->begin(trace.beginning());
    runner.spent += Clock::now() - start;
  }
  return trace.each([&](const EventChunk& chunk) {
    bool any = false;
    for (Runner& runner : runners) {
      if (runner.replay->ended()) continue;
      any = true;
      const auto start = Clock::now();
      runner.replay->take(chunk);
      runner.spent += Clock::now() - start;
    }
    return any;
  });
}

PolicyOutcome outcome_of(const Runner& runner) {
  const PolicyReplay& replay = *runner.replay;
  PolicyOutcome outcome;
  outcome.choice = replay.choice();
  outcome.device = replay.device_index();
  outcome.peaks = replay.peaks();
  outcome.calls = replay.calls();
  outcome.calls_at_beginning = replay.calls_at_beginning();
  outcome.retries = replay.allocator().statistics().num_alloc_retries;
  outcome.operations = replay.operations();
  const auto ns = std::chrono::duration<double, std::nano>(runner.spent).count();
  outcome.ns_per_operation = outcome.operations == 0 ? 0 : ns / static_cast<double>(outcome.operations);
  outcome.refusal = replay.refusal();
  outcome.series = replay.series().points();
  outcome.events_per_point = replay.series().events_per_point();
  return outcome;
}

}  // namespace

Result<std::vector<PolicyOutcome>> compare_policies(const TraceInput& trace, const std::vector<PolicyChoice>& choices,
                                                    const Comparison& comparison) {
  auto runners = make_runners(trace, choices, comparison, comparison.detailed);
  if (!runners) return runners.error();
  if (auto done = run(trace, *runners); !done) return done.error();
  std::vector<PolicyOutcome> outcomes;
  for (const Runner& runner : *runners) outcomes.push_back(outcome_of(runner));
  runners->clear();
  if (!comparison.detailed) return outcomes;
  auto again = make_runners(trace, choices, comparison, false);
  if (!again) return again.error();
  for (std::size_t i = 0; i < again->size(); ++i) (*again)[i].replay->stop_after(outcomes[i].peaks.reserved_step);
  if (auto done = run(trace, *again); !done) return done.error();
  for (std::size_t i = 0; i < again->size(); ++i) outcomes[i].at_peak = layout_of(*(*again)[i].replay);
  return outcomes;
}

}  // namespace assay::replay
