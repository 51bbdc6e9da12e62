// SPDX-License-Identifier: Apache-2.0
// The children of a run: what they are given, what is believed of what they say, and how their end is read.
#include "suite/run/children.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "results-schema/json/json.hpp"
#include "results-schema/types/failure_code.hpp"
#include "suite/process/child.hpp"

namespace assay::run {
namespace {

// Thrown through run_child, which then stops the child: the journal cannot be written any more.
struct Stop {
  Error error;
};

std::optional<std::int64_t> order_of(const JournalEntry& entry) {
  if (const auto* e = std::get_if<PhaseStarted>(&entry)) return e->launch_order;
  if (const auto* e = std::get_if<PhaseFinished>(&entry)) return e->launch_order;
  if (const auto* e = std::get_if<SampleTaken>(&entry)) return e->launch_order;
  if (const auto* e = std::get_if<OutputChecksum>(&entry)) return e->launch_order;
  if (const auto* e = std::get_if<AllocatorTimed>(&entry)) return e->launch_order;
  return std::nullopt;  // the parent alone says these
}

std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

// What the child said that could not be used, if anything.
struct Listener {
  const LaunchJob& job;
  Recorder& recorder;
  std::string nonsense;
  std::size_t phases = 0;

  void operator()(std::string_view line) {
    auto entry = json::from_line(line, "the launch's report");
    if (!entry) return reject(entry.error().text);
    if (order_of(*entry) != std::optional(job.order)) return reject("the launch reported an event that is not its own");
    auto recorded = recorder.record(*entry);
    if (!recorded && recorded.error().code == ErrorCode::bad_input) return reject(recorded.error().text);
    if (!recorded) throw Stop{recorded.error()};
    if (std::holds_alternative<PhaseFinished>(*entry)) ++phases;
    if (const auto* started = std::get_if<PhaseStarted>(&*entry); started != nullptr && job.on_phase)
      job.on_phase(started->phase);
  }
  void reject(const std::string& why) {
    if (nonsense.empty()) nonsense = why;
  }
};

LaunchFinished finished(const LaunchJob& job, const process::ChildResult& child, const Listener& heard) {
  LaunchFinished end;
  end.launch_order = job.order;
  end.duration = {child.duration_ns, "ns", Basis::observed, {}};
  end.exit_code = child.exit_code;
  end.signal = child.signal;
  const auto words = last_words(child.error_tail);
  switch (child.end) {
    case process::ChildEnd::exited:
      if (child.exit_code == 0 && heard.nonsense.empty() && heard.phases > 0) {
        end.outcome = LaunchOutcome::ok;
      } else {
        end.outcome = LaunchOutcome::failed;
        end.message = child.exit_code != 0 ? (words.empty() ? fmt::format("it exited with {}", child.exit_code) : words)
                      : heard.nonsense.empty() ? "it ended without reporting a phase"
                                               : heard.nonsense;
      }
      break;
    case process::ChildEnd::signalled:
      end.outcome = LaunchOutcome::crashed;
      end.message =
          fmt::format("the process was ended by {}{}", signal_text(child.signal), words.empty() ? "" : ": " + words);
      break;
    case process::ChildEnd::timed_out:
      end.outcome = LaunchOutcome::hung;
      end.message = fmt::format("stopped at its time limit of {} s (--time-limit)", job.request.plan.time_limit_s);
      break;
    case process::ChildEnd::interrupted:
      end.outcome = LaunchOutcome::interrupted;
      end.message = "stopped because the run was interrupted";
      break;
  }
  return end;
}

std::chrono::milliseconds limit_of(const Plan& plan) {
  return std::chrono::milliseconds(plan.time_limit_s * 1000);
}

// Lines between the indices and the plan, which begins with a brace.
constexpr std::string_view kLatency = "latency\n";
constexpr std::string_view kRecordTrace = "record_trace=";
constexpr std::string_view kSnapshot = "snapshot=";

void take_instruments(std::string_view& text, measure::Instruments& out) {
  const auto take_path = [&](std::string_view key, std::string& path) {
    if (!text.starts_with(key)) return;
    const auto end = std::min(text.find('\n'), text.size());
    path = text.substr(key.size(), end - key.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  };
  if (text.starts_with(kLatency)) {
    out.latency = true;
    text.remove_prefix(kLatency.size());
  }
  take_path(kRecordTrace, out.record_trace);
  take_path(kSnapshot, out.snapshot);
}

}  // namespace

Result<void> run_launch(const LaunchJob& job, Recorder& recorder) {
  const auto& request = job.request;
  Launch launch;
  launch.index = job.step.index;
  launch.order = job.order;
  launch.workload = static_cast<std::int64_t>(job.step.workload);
  launch.started_at = timestamp();
  const auto& device = request.plan.devices[job.step.device].name;
  Listener listener{job, recorder, {}, 0};
  process::ChildRequest child;
  child.argv = {request.program, "__launch"};
  child.input = write_launch_request({request.plan, job.step.device, job.step.workload, job.order,
                                      measure::of_launch(request.instruments, job.order, launch_count(request.plan)),
                                      request.slow_permille_of(job.step.device)});
  child.time_limit = limit_of(request.plan);
  child.on_start = [&](std::int64_t pid) {
    launch.pid = pid;
    if (auto done = recorder.record(LaunchStarted{device, launch}); !done) throw Stop{done.error()};
  };
  child.on_line = [&listener](std::string_view line) { listener(line); };
  try {
    auto result = process::run_child(child);
    if (!result) return result.error();
    return recorder.record(finished(job, *result, listener));
  } catch (const Stop& stop) {
    return stop.error;
  }
}

namespace {

// What the child that checks kernels said.
struct CheckListener {
  const std::string& device;
  Recorder& recorder;
  bool good = true;
  bool failure_told = false;  // it said itself what it could not do
  std::size_t cases = 0;
  std::string last = {};  // the name of the last case
  std::string nonsense = {};

  void operator()(std::string_view line) {
    auto entry = json::from_line(line, "the kernel checks' report");
    const auto* checked = entry ? std::get_if<CaseChecked>(&*entry) : nullptr;
    if (checked == nullptr || checked->device != device) {
      nonsense = entry ? "the kernel checks reported an event that is not theirs" : entry.error().text;
      return;
    }
    ++cases;
    last = checked->checked.name;
    failure_told = failure_told || checked->checked.status == CaseStatus::failed;
    good = good && checked->checked.status != CaseStatus::wrong && checked->checked.status != CaseStatus::failed;
    if (auto recorded = recorder.record(*entry); !recorded) throw Stop{recorded.error()};
  }
};

// Why the checks as a whole cannot be believed; nothing when they can.
std::optional<Case> why_not(const Request& request, const process::ChildResult& child, const CheckListener& heard) {
  const auto words = last_words(child.error_tail);
  const auto after = heard.cases == 0 ? std::string(" before the first was done")
                                      : fmt::format(" after {} of them, the last {}", heard.cases, heard.last);
  if (child.end == process::ChildEnd::timed_out)
    return failed_checks(request.plan,
                         {ErrorCode::hung, fmt::format("the checks were stopped at their time limit of {} s "
                                                       "(--time-limit){}",
                                                       request.plan.time_limit_s, after)});
  if (child.end == process::ChildEnd::signalled) {
    auto crashed = failed_checks(
        request.plan, {ErrorCode::internal, fmt::format("the checks were ended by {}{}{}", signal_text(child.signal),
                                                        after, words.empty() ? "" : ": " + words)});
    crashed.code = "crashed";
    return crashed;
  }
  if (!heard.nonsense.empty()) return failed_checks(request.plan, {ErrorCode::internal, heard.nonsense});
  if (child.exit_code == 0 && heard.cases > 0) return std::nullopt;
  if (heard.failure_told) return std::nullopt;  // in the child's own words, already recorded
  return failed_checks(request.plan, {ErrorCode::internal, words.empty() ? "the checks reported nothing" : words});
}

}  // namespace

Case failed_checks(const Plan& plan, const Error& error) {
  Case failed;
  failed.name = "kernel checks";
  failed.kernel = "all";
  failed.dtype = plan.workloads.front().storage_dtype;
  failed.implementation = "portable";
  failed.status = CaseStatus::failed;
  failed.code = failure_code(error.code);
  failed.message = error.text;
  failed.error = failed.tolerance = missing("1", "the checks did not work");
  return failed;
}

Result<bool> check_kernels(const Request& request, std::size_t device, Recorder& recorder) {
  const auto& name = request.plan.devices[device].name;
  CheckListener listener{name, recorder};
  process::ChildRequest asked;
  asked.argv = {request.program, "__check"};
  asked.input = write_launch_request({request.plan, device, 0, 0, {}});
  asked.time_limit = limit_of(request.plan);
  asked.on_line = [&listener](std::string_view line) { listener(line); };
  try {
    auto child = process::run_child(asked);
    if (!child) return child.error();
    if (child->end == process::ChildEnd::interrupted) return false;
    const auto failed = why_not(request, *child, listener);
    if (!failed) return listener.good;
    if (auto recorded = recorder.record(CaseChecked{name, *failed}); !recorded) return recorded.error();
    return false;
  } catch (const Stop& stop) {
    return stop.error;
  }
}

std::string write_launch_request(const measure::LaunchRequest& request) {
  std::string text =
      fmt::format("{} {} {} {}\n", request.device, request.workload, request.order, request.slow_permille);
  const auto& instruments = request.instruments;
  if (instruments.latency) text += kLatency;
  if (!instruments.record_trace.empty()) text += fmt::format("{}{}\n", kRecordTrace, instruments.record_trace);
  if (!instruments.snapshot.empty()) text += fmt::format("{}{}\n", kSnapshot, instruments.snapshot);
  return text + json::write_plan(request.plan);
}

Result<measure::LaunchRequest> read_launch_request(std::string_view text) {
  const Error refused{ErrorCode::bad_input,
                      "standard input holds no launch request; this command is for the program's "
                      "own use"};
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return refused;
  measure::LaunchRequest request;
  const char* at = text.data();
  const char* const stop = text.data() + end;
  const auto take = [&](auto& value) {
    while (at != stop && *at == ' ') ++at;
    const auto [next, failure] = std::from_chars(at, stop, value);
    at = next;
    return failure == std::errc{};
  };
  if (!take(request.device) || !take(request.workload) || !take(request.order) || !take(request.slow_permille) ||
      request.slow_permille < 0 || at != stop)
    return refused;
  text.remove_prefix(end + 1);
  take_instruments(text, request.instruments);
  auto plan = json::read_plan(text, "the launch request");
  if (!plan) return plan.error();
  if (request.device >= plan->devices.size() || request.workload >= plan->workloads.size()) return refused;
  request.plan = std::move(*plan);
  return request;
}

void let_waiting_threads_sleep() {
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
}

std::string last_words(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const auto line = text.find_last_of('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  constexpr std::string_view kName = "assay: ";
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  std::string out;
  // A document holds text: what a dying process printed need not be any.
  for (const char c : text) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

}  // namespace assay::run
