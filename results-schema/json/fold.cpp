// SPDX-License-Identifier: Apache-2.0
// Folds journal entries into a document, and derives what the document says about itself as a whole.
#include <algorithm>
#include <string>
#include <utility>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"

namespace assay::json {
namespace {

using detail::bad_input;

std::string_view code_of(LaunchOutcome outcome) {
  switch (outcome) {
    case LaunchOutcome::crashed:
      return "crashed";
    case LaunchOutcome::hung:
      return "hung";
    case LaunchOutcome::interrupted:
    case LaunchOutcome::running:
      return "interrupted";
    case LaunchOutcome::ok:
    case LaunchOutcome::failed:
      break;
  }
  return "internal";  // failed, and no phase says why
}

Failure failure_of(const std::string& device, const Launch& launch) {
  Failure failure{device, launch.order, launch.phase_in_progress, std::string(code_of(launch.outcome)), launch.message};
  const auto failed = std::find_if(launch.phases.rbegin(), launch.phases.rend(),
                                   [](const Phase& phase) { return phase.failure.has_value(); });
  if (failed != launch.phases.rend()) {
    if (failure.phase.empty()) failure.phase = failed->name;
    failure.code = failed->failure->code;
    if (failure.message.empty()) failure.message = failed->failure->message;
  }
  if (failure.message.empty()) failure.message = "the launch ended without a message";
  return failure;
}

void add_case_failures(RunDocument& document, const DeviceSection& device) {
  for (const auto& checked : device.cases) {
    if (checked.status != CaseStatus::wrong && checked.status != CaseStatus::failed) continue;
    const bool wrong = checked.status == CaseStatus::wrong;
    const std::string text = wrong ? " differs from its reference" : " could not be checked";
    document.failures.push_back({device.name, -1, "", wrong ? "wrong_result" : checked.code.value_or("internal"),
                                 checked.name + text + (checked.message.empty() ? "" : ": " + checked.message)});
  }
}

// Launches that the plan asks for and that never started.
void add_missing_launches(RunDocument& document, const DeviceSection& device) {
  for (std::size_t workload = 0; workload < document.plan.workloads.size(); ++workload) {
    const auto started = std::count_if(
        device.launches.begin(), device.launches.end(),
        [workload](const Launch& launch) { return launch.workload == static_cast<std::int64_t>(workload); });
    if (started >= document.plan.launches) continue;
    document.failures.push_back({device.name, -1, "", "not_run",
                                 std::to_string(document.plan.launches - started) + " of " +
                                     std::to_string(document.plan.launches) + " planned launches of workload " +
                                     std::to_string(workload) + " did not run"});
  }
}

DeviceSection* find_device(RunDocument& document, const std::string& name) {
  for (auto& device : document.devices)
    if (device.name == name) return &device;
  return nullptr;
}

Launch* find_launch(RunDocument& document, std::int64_t order) {
  for (auto& device : document.devices)
    for (auto& launch : device.launches)
      if (launch.order == order) return &launch;
  return nullptr;
}

Error no_device(const std::string& name) {
  return bad_input("the journal names the device " + detail::printable(name) + ", which the run does not have");
}

Error no_launch(std::int64_t order) {
  return bad_input("the journal speaks of launch " + std::to_string(order) + ", which is not running");
}

Launch* find_running(RunDocument& document, std::int64_t order) {
  Launch* launch = find_launch(document, order);
  return launch != nullptr && launch->outcome == LaunchOutcome::running ? launch : nullptr;
}

// The phase that PhaseStarted opened and nothing has ended yet.
Phase* open_phase(Launch& launch) {
  if (launch.phase_in_progress.empty() || launch.phases.empty()) return nullptr;
  return &launch.phases.back();
}

// ---- one function an entry ----

class Fold {
 public:
  explicit Fold(RunDocument& document) : document_(document) {}

  Result<void> operator()(const RunStarted& entry) {
    if (!document_.run.id.empty() || !document_.devices.empty()) return bad_input("the journal starts a run twice");
    document_ = entry.document;
    return {};
  }

  Result<void> operator()(const DeviceIdentified& entry) {
    DeviceSection* device = find_device(document_, entry.device);
    if (device == nullptr) return no_device(entry.device);
    device->module_sha256 = entry.module_sha256;
    device->identity = entry.identity;
    return {};
  }

  Result<void> operator()(const CaseChecked& entry) {
    DeviceSection* device = find_device(document_, entry.device);
    if (device == nullptr) return no_device(entry.device);
    device->cases.push_back(entry.checked);
    return {};
  }

  Result<void> operator()(const LaunchStarted& entry) {
    DeviceSection* device = find_device(document_, entry.device);
    if (device == nullptr) return no_device(entry.device);
    if (find_launch(document_, entry.launch.order) != nullptr)
      return bad_input("the journal starts launch " + std::to_string(entry.launch.order) + " twice");
    if (entry.launch.workload < 0 || static_cast<std::size_t>(entry.launch.workload) >= document_.plan.workloads.size())
      return bad_input("the journal starts a launch of a workload that the plan does not have");
    device->launches.push_back(entry.launch);
    return {};
  }

  // The phase is in the document from here on, so that a launch that dies in it leaves its name and repeat behind.
  Result<void> operator()(const PhaseStarted& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    if (open_phase(*launch) != nullptr) return bad_input("the journal starts a phase inside another");
    launch->phase_in_progress = entry.phase;
    Phase phase;
    phase.name = entry.phase;
    phase.repeat = entry.repeat;
    phase.status = PhaseStatus::partial;
    phase.peaks_partial = true;
    phase.duration = missing("ns", "the phase did not end");
    launch->phases.push_back(std::move(phase));
    return {};
  }

  Result<void> operator()(const PhaseFinished& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    Phase* open = open_phase(*launch);
    if (open == nullptr) {
      launch->phases.push_back(entry.phase);
      return {};
    }
    if (open->name != entry.phase.name || open->repeat != entry.phase.repeat)
      return bad_input("the journal ends the phase " + detail::printable(entry.phase.name) + ", and " +
                       detail::printable(open->name) + " is in progress");
    *open = entry.phase;
    launch->phase_in_progress.clear();
    return {};
  }

  Result<void> operator()(const SampleTaken& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    auto found = std::find_if(launch->samples.begin(), launch->samples.end(),
                              [&entry](const SampleSeries& series) { return series.name == entry.name; });
    if (found == launch->samples.end())
      found = launch->samples.insert(found, SampleSeries{entry.name, entry.unit, Basis::observed, {}, {}});
    if (found->unit != entry.unit)
      return bad_input("the journal gives the samples " + detail::printable(entry.name) + " two units");
    if (!entry.flag.empty() && found->flags.empty()) found->flags.resize(found->values.size());
    if (!entry.flag.empty() || !found->flags.empty()) found->flags.push_back(entry.flag);
    found->values.push_back(entry.value);
    return {};
  }

  Result<void> operator()(const OutputChecksum& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    launch->checksum = entry.checksum;
    return {};
  }

  Result<void> operator()(const AllocatorTimed& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    launch->allocator_latency = entry.calls;
    return {};
  }

  Result<void> operator()(const LaunchFinished& entry) {
    Launch* launch = find_running(document_, entry.launch_order);
    if (launch == nullptr) return no_launch(entry.launch_order);
    if (entry.outcome == LaunchOutcome::running) return bad_input("the journal ends a launch that goes on running");
    launch->duration = entry.duration;
    launch->outcome = entry.outcome;
    launch->exit_code = entry.exit_code;
    launch->signal = entry.signal;
    launch->message = entry.message;
    close_phase(*launch);
    return {};
  }

  Result<void> operator()(const RunFinished& entry) {
    document_.run.finished_at = entry.finished_at;
    finish(document_);
    return {};
  }

  // Says of the phase a launch died in why it has no end.
  static void close_phase(Launch& launch) {
    Phase* open = open_phase(launch);
    if (open == nullptr || open->failure) return;
    open->failure = PhaseFailure{std::string(code_of(launch.outcome)),
                                 launch.message.empty() ? "the launch ended inside this phase" : launch.message,
                                 missing("bytes", "no request is known to have failed"), ""};
  }

 private:
  RunDocument& document_;
};

}  // namespace

Result<void> apply(RunDocument& document, const JournalEntry& entry) {
  if (!std::holds_alternative<RunStarted>(entry) && document.run.id.empty())
    return bad_input("the journal does not begin with the start of a run");
  if (!document.run.finished_at.empty()) return bad_input("the journal goes on after the end of its run");
  return std::visit(Fold(document), entry);
}

void finish(RunDocument& document) {
  bool any_ok = false;
  bool any_measured = false;  // a phase that completed is a result, also in a launch that failed later
  document.failures.clear();
  for (auto& device : document.devices) {
    add_case_failures(document, device);
    for (auto& launch : device.launches) {
      if (launch.outcome == LaunchOutcome::running) {
        launch.outcome = LaunchOutcome::interrupted;
        if (launch.message.empty()) launch.message = "the run was cut short while this launch was running";
        launch.duration = missing("ns", "the launch was cut short");
        Fold::close_phase(launch);
      }
      any_measured |= std::any_of(launch.phases.begin(), launch.phases.end(),
                                  [](const Phase& phase) { return phase.status == PhaseStatus::ok; });
      if (launch.outcome == LaunchOutcome::ok)
        any_ok = true;
      else
        document.failures.push_back(failure_of(device.name, launch));
    }
    add_missing_launches(document, device);
  }
  const bool cut_short = document.run.finished_at.empty();
  if (document.failures.empty() && (cut_short || !any_ok))
    document.failures.push_back({"", -1, "", cut_short ? "interrupted" : "not_run",
                                 cut_short ? "the run was stopped before its end" : "nothing was launched"});
  if (document.failures.empty())
    document.status = DocumentStatus::ok;
  else
    document.status = any_ok || any_measured || cut_short ? DocumentStatus::partial : DocumentStatus::failed;
}

}  // namespace assay::json
