// SPDX-License-Identifier: Apache-2.0
// The decision card. Computed and observed stand side by side and are never merged into one number.
#include "suite/report/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "suite/model/bytes.hpp"
#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::report {
namespace {

std::string exact(std::optional<std::int64_t> bytes) {
  return bytes ? fmt::format("{} B ({})", *bytes, binary_bytes(*bytes)) : "unknown";
}

bool whole(const Launch& launch) {
  return launch.outcome == LaunchOutcome::ok && !launch.phases.empty() &&
         std::all_of(launch.phases.begin(), launch.phases.end(),
                     [](const Phase& phase) { return phase.status == PhaseStatus::ok; });
}

// Tokens alive at once when the load is at its longest: what orders loads by size.
double load_size(const Workload& w) {
  return static_cast<double>(w.batch) * static_cast<double>(w.prompt_tokens + w.decode_tokens);
}

struct Evidence {
  const Launch* launch = nullptr;  // a whole launch of the largest load that passed
  std::size_t workload = 0;
};

Evidence largest(const RunDocument& document, const DeviceSection& device) {
  Evidence best;
  for (const auto& launch : device.launches) {
    if (!whole(launch)) continue;
    const auto index = static_cast<std::size_t>(launch.workload);
    if (index >= document.plan.workloads.size()) continue;
    if (best.launch == nullptr ||
        load_size(document.plan.workloads[index]) > load_size(document.plan.workloads[best.workload]))
      best = {&launch, index};
  }
  return best;
}

// Highest peak of a counter over the whole phases of a launch.
std::optional<std::int64_t> highest_peak(const Launch& launch, std::string_view name, std::string_view perimeter) {
  std::optional<std::int64_t> top;
  for (const auto& phase : launch.phases) {
    if (phase.peaks_partial) continue;
    const auto value = counter(phase.end, name, perimeter);
    if (value && (!top || *value > *top)) top = value;
  }
  return top;
}

std::optional<std::int64_t> computed_weights(const Workload& w) {
  const auto list = w.kind == WorkloadKind::decoder ? model::weights_of(w.model, w.storage_dtype)
                                                    : model::dense_weights_of(w.width, w.depth, w.storage_dtype);
  return list ? std::optional(list->bytes) : std::nullopt;
}

std::optional<std::int64_t> computed_cache(const Workload& w) {
  if (w.kind != WorkloadKind::decoder) return std::nullopt;
  const auto bytes = model::kv_bytes(w.model, w.kv, w.batch, w.prompt_tokens + w.decode_tokens, w.storage_dtype);
  return bytes ? std::optional(*bytes) : std::nullopt;
}

std::string bytes_section(const RunDocument& document, const Evidence& evidence, const CardOptions& options) {
  Table table({"Bytes", ">Computed", ">Observed", ">Assumed"});
  const Workload& w = document.plan.workloads[evidence.workload];
  const auto observed = [&](std::string_view name, std::string_view perimeter) {
    return evidence.launch == nullptr ? std::string("unknown") : exact(highest_peak(*evidence.launch, name, perimeter));
  };
  table.add(
      {"weights, requested", exact(computed_weights(w)), observed("requested_bytes.peak", "category:weights"), "-"});
  if (w.kind == WorkloadKind::decoder)
    table.add({"KV cache, requested", exact(computed_cache(w)), observed("requested_bytes.peak", "category:kv"), "-"});
  table.add({"peak requested, all", "-", observed("requested_bytes.all.peak", "allocator"), "-"});
  table.add({"peak allocated, all", "-", observed("allocated_bytes.all.peak", "allocator"), "-"});
  table.add({"peak active, all", "-", observed("active_bytes.all.peak", "allocator"), "-"});
  table.add({"peak reserved, all", "-", observed("reserved_bytes.all.peak", "allocator"), "-"});
  table.add({"reserve of the reader", "-", "-", options.reserve_bytes ? exact(options.reserve_bytes) : "none stated"});
  return table.text();
}

std::string instants_section(const Launch& launch) {
  Table table(
      {"At one instant", ">Requested", ">Allocated", ">Active", ">Reserved", ">Reserved-alloc.", ">Largest free"});
  const auto add = [&table](const Phase& phase, const char* when, const std::vector<Counter>& counters) {
    const auto at = instant(counters);
    if (!at.allocated && !at.reserved) return;
    const auto text = [](std::optional<std::int64_t> bytes) { return bytes ? binary_bytes(*bytes) : "n/a"; };
    auto name = phase.name;
    if (phase.repeat > 0) name += fmt::format(" #{}", phase.repeat + 1);
    table.add({fmt::format("{} {}", name, when), text(at.requested), text(at.allocated), text(at.active),
               text(at.reserved), text(at.gap()), text(at.largest_free)});
  };
  std::string last;
  for (const auto& phase : launch.phases) {
    // Of repeats the first shows the start and the last the end; the report has them all.
    if (phase.name != last) add(phase, "start", phase.start);
    last = phase.name;
    const bool ends = &phase == &launch.phases.back() || (&phase + 1)->name != phase.name;
    if (ends) add(phase, "end", phase.end);
  }
  return table.empty() ? std::string{} : table.text();
}

std::string phases_section(const DeviceSection& device) {
  std::map<std::string, std::pair<int, int>> counts;  // passed, failed
  std::vector<std::string> order;
  std::vector<std::string> failures;
  for (const auto& launch : device.launches) {
    for (const auto& phase : launch.phases) {
      if (counts.find(phase.name) == counts.end()) order.push_back(phase.name);
      auto& [passed, failed] = counts[phase.name];
      ++(phase.status == PhaseStatus::ok ? passed : failed);
      if (!phase.failure) continue;
      auto text = fmt::format("{}: {}: {}", phase.name, phase.failure->code, phase.failure->message);
      if (phase.failure->requested_bytes.has_value())
        text += fmt::format(" (requested {})", quantity(phase.failure->requested_bytes));
      failures.push_back(std::move(text));
      if (phase.failure->account)
        failures.push_back(fmt::format("{}: {}", phase.name, phase.failure->account->sentence));
    }
    if (launch.outcome != LaunchOutcome::ok && !launch.phase_in_progress.empty())
      failures.push_back(fmt::format("{}: not finished, the launch {}: {}", launch.phase_in_progress,
                                     to_text(launch.outcome), launch.message));
  }
  std::string passed_text;
  std::string failed_text;
  for (const auto& name : order) {
    const auto& [passed, failed] = counts[name];
    if (passed > 0) passed_text += fmt::format("{}{} ({})", passed_text.empty() ? "" : ", ", name, passed);
    if (failed > 0) failed_text += fmt::format("{}{} ({})", failed_text.empty() ? "" : ", ", name, failed);
  }
  auto out = wrapped(passed_text.empty() ? "none" : passed_text, "  Phases passed: ", "    ");
  out += wrapped(failed_text.empty() && failures.empty() ? "none" : failed_text, "  Phases failed: ", "    ");
  for (const auto& failure : failures) out += wrapped(failure, "    ", "      ");
  return out;
}

std::string environment_section(const DeviceSection& device) {
  std::string out;
  for (const auto* key : {"driver", "runtime_version", "toolkit_compiled", "compiler", "kernel_release", "os",
                          "isa_level", "memory_visible_bytes", "memory_total_bytes"}) {
    const auto text = field_text(device.identity, key);
    if (text != "unknown" && text != "not_applicable")
      out += fmt::format("{}{} {}", out.empty() ? "" : "; ", key, text);
  }
  return wrapped(out.empty() ? "unknown" : out, "  Environment: ", "    ");
}

std::string not_covered(const RunDocument& document, const DeviceSection& device) {
  std::vector<std::string> items;
  if (is_cpu(device)) items.emplace_back("any GPU: this is a CPU measurement");
  items.emplace_back("loads larger than the largest tested");
  items.emplace_back("training, evaluation and export: only forward passes were run");
  items.emplace_back("trained weights: synthetic ones of the same shapes were used");
  items.emplace_back("other processes on the device, other allocators, drivers and dtypes");
  if (document.plan.launches == 1) items.emplace_back("spread between processes: there was one launch");
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : "; ") + item;
  return wrapped(text + ".", "  Not covered: ", "    ");
}

std::string device_card(const RunDocument& document, const DeviceSection& device, const CardOptions& options) {
  std::string out = wrapped(device_line(device), "Device ", "  ");
  if (is_cpu(device)) out += "  CPU measurement: it is no GPU measurement.\n";
  const auto evidence = largest(document, device);
  if (evidence.launch != nullptr) {
    out += wrapped(workload_line(document.plan.workloads[evidence.workload]), "  Largest load tested whole: ", "    ");
  } else {
    out += "  Largest load tested whole: none; no launch finished, so no peak here is the need of a run.\n";
  }
  for (std::size_t i = 0; i < document.plan.workloads.size(); ++i) {
    const auto launches = launches_of(device, static_cast<std::int64_t>(i));
    const bool failed = std::any_of(launches.begin(), launches.end(), [](const Launch* l) { return !whole(*l); });
    if (failed) out += wrapped(workload_line(document.plan.workloads[i]), "  Load that did not finish: ", "    ");
  }
  out += '\n' + bytes_section(document, evidence, options);
  out +=
      wrapped("each peak is the highest value of its own; they may belong to different instants.", "  Peaks: ", "    ");
  if (evidence.launch != nullptr)
    if (const auto table = instants_section(*evidence.launch); !table.empty()) out += '\n' + table;
  out += wrapped(
      "requested: bytes asked for. allocated: live blocks, rounding included. active: allocated and "
      "freed blocks still waiting for a stream. reserved: held from the device, allocated included. "
      "All are bytes; B, KiB, MiB, GiB are powers of 1024.",
      "  Counters: ", "    ");
  out += '\n' + phases_section(device);
  out += environment_section(device);
  out += not_covered(document, device);
  return out;
}

}  // namespace

std::string card(const RunDocument& document, const CardOptions& options) {
  std::string out = fmt::format("Decision card of {} ({}, {})\n", document.run.id,
                                document.kind == DocumentKind::measure ? "measure" : "run", to_text(document.status));
  for (const auto& device : document.devices) out += '\n' + device_card(document, device, options);
  if (document.devices.empty()) out += "  No device was measured.\n";
  return out;
}

}  // namespace assay::report
