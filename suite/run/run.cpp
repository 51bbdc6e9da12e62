// SPDX-License-Identifier: Apache-2.0
// execute: identify, check, launch, publish. Only children touch a device.
#include "suite/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "suite/identity/assemble.hpp"
#include "suite/identity/compare.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/run/children.hpp"
#include "suite/run/consistency.hpp"
#include "suite/run/recorder.hpp"

namespace assay::run {
namespace {

struct Identified {
  std::vector<Identity> identities;  // as plan.devices
};

Result<void> same_as_before(const Request& request, std::size_t device, const Identity& now) {
  if (!request.resumed || device >= request.resumed->devices.size()) return {};
  const auto& before = request.resumed->devices[device].identity;
  if (before.fields.empty()) return {};  // it was cut short before anything was known
  const auto comparison = identity::compare(before, now, {true, true});
  if (comparison.relation == identity::Relation::same && comparison.refusals.empty()) return {};
  std::string differences;
  for (const auto* list : {&comparison.things, &comparison.changes})
    for (const auto& difference : *list)
      differences += fmt::format("{}{} was {} and is {}", differences.empty() ? "" : "; ", difference.key, difference.a,
                                 difference.b);
  return Error{ErrorCode::not_comparable, fmt::format("{} is not what the earlier run measured ({}); start a new run",
                                                      request.plan.devices[device].name, differences)};
}

Result<Identified> identify_all(const Request& request) {
  Identified out;
  const modules::ProgramFacts facts{request.suite_version, request.suite_commit, request.suite_dirty,
                                    request.plan.allocator, request.plan.allocator_options};
  for (std::size_t i = 0; i < request.plan.devices.size(); ++i) {
    const auto& device = request.plan.devices[i];
    if (request.on_progress) request.on_progress("identifying " + device.name);
    auto identity = modules::identify(device, facts, request.prober);
    if (!identity) return identity.error();
    for (const auto& finding : identity->findings)
      if (finding.refuses)
        return Error{ErrorCode::not_comparable, fmt::format("{} is not measured: {}", device.name, finding.text)};
    if (auto same = same_as_before(request, i, *identity); !same) return same.error();
    out.identities.push_back(std::move(*identity));
  }
  return out;
}

RunDocument first_document(const Request& request) {
  RunDocument document;
  document.kind = request.kind;
  document.run.id = request.resumed ? request.resumed->run.id : random_id();
  document.run.started_at = request.resumed ? request.resumed->run.started_at : timestamp();
  document.run.argv = request.argv;
  document.run.suite_version = request.suite_version;
  document.run.suite_commit = request.suite_commit;
  document.run.suite_dirty = request.suite_dirty;
  document.plan = request.plan;
  if (auto hash = plan_hash(request.plan)) document.run.plan_sha256 = *hash;
  for (const auto& device : request.plan.devices) {
    DeviceSection section;
    section.name = device.name;
    section.module_path = device.module_path;
    document.devices.push_back(std::move(section));
  }
  return document;
}

class Execution {
 public:
  Execution(const Request& request, Recorder& recorder) : request_(request), recorder_(recorder) {}

  Result<void> begin(const Identified& identified) {
    if (auto done = recorder_.record(RunStarted{first_document(request_)}); !done) return done;
    for (std::size_t i = 0; i < identified.identities.size(); ++i) {
      const auto& identity = identified.identities[i];
      const auto hash = identity::text_value(identity, "module_sha256").value_or("");
      if (auto done = recorder_.record(DeviceIdentified{request_.plan.devices[i].name, hash, identity}); !done)
        return done;
    }
    return {};
  }

  // Launches and checks that an earlier run finished, told again as entries, so that the journal is whole by itself.
  Result<void> replay_earlier() {
    if (!request_.resumed) return {};
    for (const auto& device : request_.resumed->devices) {
      for (const auto& launch : device.launches) {
        if (auto done = replay(device.name, launch); !done) return done;
        next_order_ = std::max(next_order_, launch.order + 1);
      }
    }
    return {};
  }

  Result<void> check() {
    if (!request_.check_kernels) return {};
    for (std::size_t i = 0; i < request_.plan.devices.size() && !process::interrupted(); ++i) {
      progress("checking kernels on " + request_.plan.devices[i].name);
      auto checked = check_kernels(request_, i, recorder_);
      if (!checked) return checked.error();
      if (!*checked) untrusted_.push_back(i);
    }
    return {};
  }

  Result<void> launch_all() {
    const auto steps = missing_steps(request_.plan, recorder_.document());
    std::size_t number = 0;
    for (const auto& step : steps) {
      ++number;
      if (process::interrupted()) return {};
      // A time or a peak of a kernel that computes something else is worth nothing.
      if (std::find(untrusted_.begin(), untrusted_.end(), step.device) != untrusted_.end()) continue;
      const auto what =
          fmt::format("launch {} of {} on {}", number, steps.size(), request_.plan.devices[step.device].name);
      progress(what);
      const LaunchJob job{request_, step, next_order_++,
                          [this, &what](std::string_view phase) { progress(fmt::format("{}: {}", what, phase)); }};
      if (auto done = run_launch(job, recorder_); !done) return done;
    }
    return {};
  }

 private:
  void progress(std::string_view text) const {
    if (request_.on_progress) request_.on_progress(text);
  }

  Result<void> replay(const std::string& device, const Launch& launch) {
    Launch started = launch;
    started.outcome = LaunchOutcome::running;
    started.phases.clear();
    started.samples.clear();
    started.checksum.clear();
    started.phase_in_progress.clear();
    started.duration = missing("ns", "the launch has not ended");
    started.exit_code = started.signal = 0;
    started.message.clear();
    std::vector<JournalEntry> entries{LaunchStarted{device, started}};
    for (const auto& phase : launch.phases) {
      // What was in progress when the process died has no end of its own.
      if (!launch.phase_in_progress.empty() && &phase == &launch.phases.back())
        entries.emplace_back(PhaseStarted{launch.order, phase.name, phase.repeat});
      else
        entries.emplace_back(PhaseFinished{launch.order, phase});
    }
    for (const auto& series : launch.samples)
      for (std::size_t i = 0; i < series.values.size(); ++i)
        entries.emplace_back(SampleTaken{launch.order, series.name, series.unit, series.values[i],
                                         i < series.flags.size() ? series.flags[i] : ""});
    if (!launch.checksum.empty()) entries.emplace_back(OutputChecksum{launch.order, launch.checksum});
    entries.emplace_back(
        LaunchFinished{launch.order, launch.duration, launch.outcome, launch.exit_code, launch.signal, launch.message});
    for (const auto& entry : entries)
      if (auto done = recorder_.record(entry); !done) return done;
    return {};
  }

  const Request& request_;
  Recorder& recorder_;
  std::int64_t next_order_ = 0;
  std::vector<std::size_t> untrusted_;  // devices with a wrong kernel
};

}  // namespace

Result<Outcome> execute(const Request& request) {
  const process::InterruptGuard guard;
  auto identified = identify_all(request);
  if (!identified) return identified.error();
  if (process::interrupted()) return Error{ErrorCode::interrupted, "interrupted before anything was measured"};
  auto recorder = Recorder::create(request.output);
  if (!recorder) return recorder.error();
  Execution execution(request, *recorder);
  if (auto done = execution.begin(*identified); !done) return done.error();
  if (auto done = execution.replay_earlier(); !done) return done.error();
  // What cannot be started ends the run; what was measured before is written all the same.
  auto done = execution.check();
  if (done) done = execution.launch_all();
  if (!done && done.error().code == ErrorCode::output) return done.error();
  if (auto ended = recorder->record(RunFinished{timestamp(), DocumentStatus::ok}); !ended) return ended.error();
  if (auto written = recorder->publish(request.output); !written) return written.error();
  return Outcome{recorder->document(), process::interrupted(), done ? std::nullopt : std::optional(done.error())};
}

}  // namespace assay::run
