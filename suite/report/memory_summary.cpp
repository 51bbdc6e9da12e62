// SPDX-License-Identifier: Apache-2.0
// Rows, and the counter each one shows.
#include "suite/report/memory_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/format.hpp"
#include "suite/report/table.hpp"

namespace assay::report {
namespace {

struct Row {
  std::string_view name;
  std::string_view statistic;
  bool bytes;
  bool pools;  // also apart for the large and the small pool
};
constexpr std::array kRows{
    Row{"Allocated memory", "allocated_bytes", true, true},
    Row{"Active memory", "active_bytes", true, true},
    Row{"Requested memory", "requested_bytes", true, true},
    Row{"GPU reserved memory", "reserved_bytes", true, true},
    Row{"Non-releasable memory", "inactive_split_bytes", true, true},
    Row{"Allocations", "allocation", false, true},
    Row{"Active allocs", "active", false, true},
    Row{"GPU reserved segments", "segment", false, true},
    Row{"Non-releasable allocs", "inactive_split", false, true},
    Row{"Oversize allocations", "oversize_allocations", false, false},
    Row{"Oversize GPU segments", "oversize_segments", false, false},
};

const Phase* last_read(const Launch& launch) {
  const auto found =
      std::find_if(launch.phases.rbegin(), launch.phases.rend(), [](const Phase& phase) { return !phase.end.empty(); });
  return found == launch.phases.rend() ? nullptr : &*found;
}

std::string shown(std::optional<std::int64_t> value, bool bytes) {
  if (!value) return "n/a";
  return bytes ? binary_bytes(*value) : std::to_string(*value);
}

void add_row(Table& table, const Launch& launch, const Phase& last, const Row& row, const std::string& statistic,
             std::string name) {
  const auto at_end = [&](std::string_view value) {
    return counter(last.end, statistic + "." + std::string(value), "allocator");
  };
  std::optional<std::int64_t> peak;
  for (const auto& phase : launch.phases) {
    const auto one = counter(phase.end, statistic + ".peak", "allocator");
    if (one && (!peak || *one > *peak)) peak = one;
  }
  table.add({std::move(name), shown(at_end("current"), row.bytes), shown(peak, row.bytes),
             shown(at_end("allocated"), row.bytes), shown(at_end("freed"), row.bytes)});
}

std::string table_of(const Launch& launch, const Phase& last) {
  Table table({"Metric", ">Cur Usage", ">Peak Usage", ">Tot Alloc", ">Tot Freed"});
  for (const Row& row : kRows) {
    const std::string statistic(row.statistic);
    if (!row.pools) {
      add_row(table, launch, last, row, statistic, std::string(row.name));
      continue;
    }
    add_row(table, launch, last, row, statistic + ".all", std::string(row.name));
    add_row(table, launch, last, row, statistic + ".large_pool", "      from large pool");
    add_row(table, launch, last, row, statistic + ".small_pool", "      from small pool");
  }
  return table.text();
}

std::string section(const RunDocument& document, const DeviceSection& device, std::size_t workload) {
  const auto launches = launches_of(device, static_cast<std::int64_t>(workload));
  if (launches.empty()) return {};
  const auto ok = std::find_if(launches.begin(), launches.end(),
                               [](const Launch* launch) { return launch->outcome == LaunchOutcome::ok; });
  const Launch& launch = ok != launches.end() ? **ok : *launches.front();
  auto out = wrapped(workload_line(document.plan.workloads[workload]), "  Workload: ", "    ");
  const Phase* last = last_read(launch);
  if (last == nullptr) return out + "  No counter was read: the launch ended before its first phase did.\n";
  const auto count = [&](std::string_view name) { return shown(counter(last->end, name, "allocator"), false); };
  out += fmt::format("  Launch {} at the end of {}; CUDA OOMs: {}; cudaMalloc retries: {}\n", launch.index, last->name,
                     count("num_ooms"), count("num_alloc_retries"));
  out += table_of(launch, *last);
  out += fmt::format("  Largest free block: {}\n", shown(counter(last->end, "largest_free_bytes", "allocator"), true));
  return out;
}

}  // namespace

std::string memory_summary(const RunDocument& document) {
  std::string out = fmt::format("Memory summary of {}, allocator {}{}\n", document.run.id, document.plan.allocator,
                                document.plan.allocator_options.empty() ? "" : " " + document.plan.allocator_options);
  for (const auto& device : document.devices) {
    out += '\n' + wrapped(device_line(device), "Device ", "  ");
    if (is_cpu(device)) out += "  CPU measurement: \"GPU\" and \"CUDA\" are only the names PyTorch gives the rows.\n";
    for (std::size_t i = 0; i < document.plan.workloads.size(); ++i) out += section(document, device, i);
  }
  out += wrapped(
      "current values are those of that instant, peaks the highest of any phase, totals those since the allocator "
      "began; two peaks need not belong to one instant.",
      "Read so: ", "  ");
  return out;
}

}  // namespace assay::report
