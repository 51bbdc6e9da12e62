// SPDX-License-Identifier: Apache-2.0
// Summary: what a reader wants first after a run. Differences are only taken between values of one instant.
#include "suite/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::report {
namespace {

std::string painted(std::string_view text, bool good, bool color) {
  return color ? fmt::format("\033[{}m{}\033[0m", good ? 32 : 31, text) : std::string(text);
}

std::string bytes_or_none(std::optional<std::int64_t> bytes) {
  return bytes ? binary_bytes(*bytes) : "n/a";
}

std::optional<std::int64_t> highest(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::max(*a, *b) : (a ? a : b);
}

// Phases of one name in a row: repeats of one thing.
struct PhaseGroup {
  std::vector<const Phase*> repeats;
};

std::vector<PhaseGroup> grouped(const std::vector<Phase>& phases) {
  std::vector<PhaseGroup> groups;
  for (const auto& phase : phases) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const PhaseGroup& group) { return group.repeats.front()->name == phase.name; });
    if (same != groups.end())
      same->repeats.push_back(&phase);
    else
      groups.push_back({{&phase}});
  }
  return groups;
}

std::string group_time(const PhaseGroup& group) {
  std::vector<double> times;
  for (const Phase* phase : group.repeats)
    if (const auto* ns = std::get_if<std::int64_t>(&phase->duration.value)) times.push_back(static_cast<double>(*ns));
  return times.empty() ? "n/a" : duration(median(times));
}

std::string group_name(const PhaseGroup& group) {
  auto name = group.repeats.front()->name;
  if (group.repeats.size() > 1) name += fmt::format(" x{}", group.repeats.size());
  const auto bad = std::find_if(group.repeats.begin(), group.repeats.end(),
                                [](const Phase* phase) { return phase->status != PhaseStatus::ok; });
  if (bad != group.repeats.end()) name += fmt::format(" ({})", to_text((*bad)->status));
  return name;
}

void add_instant(Table& table, std::string name, std::string time, const Instant& at) {
  table.add({std::move(name), std::move(time), bytes_or_none(at.allocated), bytes_or_none(at.reserved),
             bytes_or_none(at.gap()), bytes_or_none(at.largest_free)});
}

// The gap never stands without the largest free block: what lies between may be in pieces no request can use.
std::string phase_table(const Launch& launch) {
  Table table({"Phase", ">Time", ">Allocated", ">Reserved", ">Gap", ">Largest free"});
  std::optional<Instant> shown;
  for (const auto& group : grouped(launch.phases)) {
    const Phase& first = *group.repeats.front();
    // A start that is not the end of the row above (something happened in between) has a row of its own.
    const auto start = instant(first.start);
    const bool has_start = start.allocated.has_value() || start.reserved.has_value();
    if (has_start && (shown ? *shown != start : (start.allocated.value_or(0) != 0 || start.reserved.value_or(0) != 0)))
      add_instant(table, first.name + ", at its start", "", start);
    const auto end = instant(group.repeats.back()->end);
    add_instant(table, group_name(group), group_time(group), end);
    shown = end;
  }
  return table.text();
}

std::string peak_table(const Launch& launch) {
  Table table({"Peak of phase", ">Requested", ">Allocated", ">Active", ">Reserved"});
  for (const auto& group : grouped(launch.phases)) {
    Peaks top;
    for (const Phase* phase : group.repeats) {
      const auto each = peaks(phase->end);
      top.requested = highest(top.requested, each.requested);
      top.allocated = highest(top.allocated, each.allocated);
      top.active = highest(top.active, each.active);
      top.reserved = highest(top.reserved, each.reserved);
    }
    table.add({group_name(group), bytes_or_none(top.requested), bytes_or_none(top.allocated), bytes_or_none(top.active),
               bytes_or_none(top.reserved)});
  }
  return table.text();
}

std::string category_table(const Launch& launch) {
  struct Row {
    std::string name;
    std::optional<std::int64_t> current;
    std::optional<std::int64_t> peak;
    std::optional<std::int64_t> requested_peak;
  };
  std::vector<Row> rows;
  std::string where;
  for (const auto& phase : launch.phases) {
    if (phase.name == "environment") continue;  // a toy workload that warms the kernels
    const auto found = categories(phase.end);
    if (!found.empty()) where = phase.name;
    for (const auto& category : found) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == category.name; });
      if (row == rows.end()) row = rows.insert(rows.end(), Row{std::string(category.name), {}, {}, {}});
      row->current = category.current;
      row->peak = highest(row->peak, category.peak);
      row->requested_peak = highest(row->requested_peak, category.requested_peak);
    }
  }
  if (rows.empty()) return {};
  Table table({"Category", ">Peak requested", ">Peak allocated", fmt::format(">Allocated at the end of {}", where)});
  for (const auto& row : rows)
    table.add({row.name, bytes_or_none(row.requested_peak), bytes_or_none(row.peak), bytes_or_none(row.current)});
  return table.text();
}

// Why the allocator refused, of each phase that ran out of memory.
std::string accounts_text(const Launch& launch) {
  std::string out;
  for (const auto& phase : launch.phases)
    if (phase.failure && phase.failure->account)
      out +=
          wrapped(fmt::format("{}: {}", phase.name, phase.failure->account->sentence), "  Out of memory in ", "    ");
  return out;
}

std::string latency_table(const Launch& launch) {
  if (!launch.allocator_latency) return {};
  Table table({"Allocator call", ">Calls", ">p50", ">p99", ">Max"});
  const auto text = [](const Quantity& quantity) {
    const auto* ns = std::get_if<std::int64_t>(&quantity.value);
    return ns == nullptr ? std::string("n/a") : duration(static_cast<double>(*ns));
  };
  for (const auto& call : *launch.allocator_latency)
    table.add({call.call, std::to_string(call.count), text(call.p50), text(call.p99), text(call.max)});
  return table.text() + wrapped("two readings of the clock with nothing between them, part of every other figure.",
                                "  clock: ", "    ");
}

std::string ledger_text(const Launch& launch, bool color) {
  const auto verdict = ledger_verdict(launch);
  if (verdict.checkpoints == 0) return "  Ledger: none was recorded\n";
  const bool good = verdict.balanced == verdict.checkpoints;
  auto out =
      fmt::format("  Ledger: {} at {} of {} checkpoints\n", painted(good ? "balanced" : "NOT balanced", good, color),
                  good ? verdict.balanced : verdict.checkpoints - verdict.balanced, verdict.checkpoints);
  for (const auto& problem : verdict.problems) out += wrapped(problem, "    ", "      ");
  return out;
}

// The message stands under Failures, once.
std::string launch_problem(const Launch& launch) {
  auto text = fmt::format("launch {} {}", launch.index, to_text(launch.outcome));
  if (!launch.phase_in_progress.empty()) text += " in " + launch.phase_in_progress;
  if (launch.signal != 0) text += fmt::format(" (signal {})", launch.signal);
  return text + "; see Failures";
}

// "sha256:ef9df40073c2174d... forward, 0991e6c522814bb4... generation": enough to tell two apart on a screen.
std::string checksum_text(const std::string& checksum) {
  constexpr std::size_t kShown = 16;
  const auto begin = checksum.find(':');
  if (begin == std::string::npos || checksum.size() < begin + kShown) return checksum;
  const auto second = checksum.find(':', begin + 1);
  auto text = checksum.substr(0, begin + 1 + kShown) + "... (forward)";
  if (second != std::string::npos) text += ", " + checksum.substr(second + 1, kShown) + "... (generation)";
  return text + "; whole in the document";
}

std::string workload_section(const RunDocument& document, const DeviceSection& device, std::size_t index, bool color) {
  const auto launches = launches_of(device, static_cast<std::int64_t>(index));
  std::string out = wrapped(workload_line(document.plan.workloads[index]), "  Workload: ", "    ");
  const auto good = std::count_if(launches.begin(), launches.end(),
                                  [](const Launch* launch) { return launch->outcome == LaunchOutcome::ok; });
  const auto planned = document.plan.launches;
  out += fmt::format("  Launches: {}\n", painted(fmt::format("{} of {} ok", good, planned), good == planned, color));
  for (const Launch* launch : launches)
    if (launch->outcome != LaunchOutcome::ok) out += wrapped(launch_problem(*launch), "    ", "      ");
  if (launches.empty()) return out;
  const auto shown = std::find_if(launches.begin(), launches.end(),
                                  [](const Launch* launch) { return launch->outcome == LaunchOutcome::ok; });
  const Launch& launch = shown != launches.end() ? **shown : *launches.front();
  if (!launch.phases.empty()) {
    out += fmt::format("\n  Memory of launch {}; values at the end of each phase\n", launch.index);
    out += phase_table(launch);
    out += wrapped(
        "reserved minus allocated at that one instant; one request can have the largest free block of it at "
        "most.",
        "  Gap: ", "    ");
    out += '\n' + peak_table(launch);
    out +=
        wrapped("each the highest value of its own; two of them need not belong to one instant.", "  Peaks: ", "    ");
    out += accounts_text(launch);
    if (const auto table = category_table(launch); !table.empty()) out += '\n' + table;
    if (const auto table = latency_table(launch); !table.empty()) out += '\n' + table;
    out += '\n' + ledger_text(launch, color);
  }
  for (const auto& sample : sample_summaries(device, static_cast<std::int64_t>(index)))
    out += wrapped(sample_text(sample), fmt::format("  {}: ", sample_label(sample.name)), "    ");
  if (!launch.checksum.empty()) out += wrapped(checksum_text(launch.checksum), "  Output checksum: ", "    ");
  return out;
}

std::string checks_text(const DeviceSection& device, bool color) {
  if (device.cases.empty()) return "  Kernel checks: none was made\n";
  const auto count = [&](CaseStatus status) {
    return std::count_if(device.cases.begin(), device.cases.end(), [&](const Case& c) { return c.status == status; });
  };
  const auto unsupported = count(CaseStatus::unsupported);
  const auto not_executed = count(CaseStatus::failed);
  const auto tried = static_cast<std::ptrdiff_t>(device.cases.size()) - unsupported - not_executed;
  const auto good = count(CaseStatus::ok);
  auto out = fmt::format("  Kernel checks: {}{}{}\n",
                         painted(fmt::format("{} of {} within tolerance", good, tried), good == tried, color),
                         unsupported > 0 ? fmt::format(", {} not supported here", unsupported) : "",
                         not_executed > 0 ? fmt::format(", {} could not be executed", not_executed) : "");
  for (const auto& checked : device.cases)
    if (checked.status == CaseStatus::wrong || checked.status == CaseStatus::failed)
      out += wrapped(checked.name + "; see Failures", "    ", "      ");
  return out;
}

}  // namespace

std::string summary(const RunDocument& document, bool color) {
  std::string out =
      fmt::format("{} {}: {}\n", document.kind == DocumentKind::measure ? "Measure" : "Run", document.run.id,
                  painted(to_text(document.status), document.status == DocumentStatus::ok, color));
  out += fmt::format("  Started {}, assay {}, commit {}{}\n", document.run.started_at, document.run.suite_version,
                     document.run.suite_commit.substr(0, 12), document.run.suite_dirty ? ", modified" : "");
  out += fmt::format("  Allocator {}{}\n", document.plan.allocator,
                     document.plan.allocator_options.empty() ? "" : " with " + document.plan.allocator_options);
  for (const auto& device : document.devices) {
    out += '\n' + wrapped(device_line(device), "Device ", "  ");
    if (is_cpu(device))
      out += "  CPU measurement: made on the host backend in ordinary memory; it is no GPU measurement.\n";
    for (const auto& finding : device.identity.findings)
      out += wrapped(finding.text, finding.refuses ? "  Refused: " : "  Marked: ", "    ");
    out += checks_text(device, color);
    for (std::size_t i = 0; i < document.plan.workloads.size(); ++i)
      out += workload_section(document, device, i, color);
  }
  if (!document.failures.empty()) out += "\nFailures\n";
  for (const auto& failure : document.failures) {
    auto place = failure.device;
    if (failure.launch_order >= 0) place += fmt::format(", process {}", failure.launch_order);
    if (!failure.phase.empty()) place += ", " + failure.phase;
    out += wrapped(fmt::format("{}: {}: {}", place, failure.code, failure.message), "  ", "    ");
  }
  return out;
}

}  // namespace assay::report
