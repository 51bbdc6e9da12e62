// SPDX-License-Identifier: Apache-2.0
// Chrome's trace events.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/compare/cases.hpp"
#include "suite/export/export.hpp"
#include "suite/report/counters.hpp"
#include "suite/report/facts.hpp"

namespace assay::exporting {
namespace {

using Json = nlohmann::ordered_json;

// Seconds of the day and the day's number since year 0 (proleptic Gregorian), from "2026-01-02T03:04:05.678Z"; enough
// for differences. Days by Hinnant, "chrono-compatible low-level date algorithms" (2013).
double seconds_of(const std::string& text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lf", &year, &month, &day, &hour, &minute, &second) != 6) return 0;
  const int y = year - (month <= 2 ? 1 : 0);
  const int era = y / 400;
  const int year_of_era = y - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int days = era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return days * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
}

Json counter_event(const std::vector<Counter>& counters, double at, std::int64_t process) {
  const auto now = report::instant(counters);
  Json values = Json::object();
  const auto put = [&values](const char* name, const std::optional<std::int64_t>& bytes) {
    if (bytes) values[name] = *bytes;
  };
  put("requested", now.requested);
  put("allocated", now.allocated);
  put("active", now.active);
  put("reserved", now.reserved);
  if (values.empty()) return nullptr;
  return Json{{"name", "allocator bytes"},
              {"cat", "memory"},
              {"ph", "C"},
              {"ts", at},
              {"pid", process},
              {"tid", 0},
              {"args", values}};
}

double microseconds(const Quantity& duration) {
  if (const auto* ns = std::get_if<std::int64_t>(&duration.value)) return static_cast<double>(*ns) / 1000;
  const auto* real = std::get_if<double>(&duration.value);
  return real != nullptr ? *real / 1000 : 0;
}

void add_launch(Json& events, const RunDocument& document, const DeviceSection& device, const Launch& launch,
                double start) {
  const auto& workload = document.plan.workloads[static_cast<std::size_t>(launch.workload)];
  const auto process = launch.order;
  events.push_back(
      {{"name", "process_name"},
       {"ph", "M"},
       {"ts", 0},
       {"pid", process},
       {"tid", 0},
       {"args",
        {{"name", fmt::format("launch {} on {}: {}", launch.index, device.name, compare::workload_name(workload))}}}});
  double at = start;
  for (const auto& phase : launch.phases) {
    const double taken = microseconds(phase.duration);
    if (auto event = counter_event(phase.start, at, process); !event.is_null()) events.push_back(std::move(event));
    const auto top = report::peaks(phase.end);
    Json arguments{{"repeat", phase.repeat}, {"status", report::to_text(phase.status)}};
    if (top.allocated) arguments["peak_allocated_bytes"] = *top.allocated;
    if (top.reserved) arguments["peak_reserved_bytes"] = *top.reserved;
    events.push_back({{"name", phase.name},
                      {"cat", "phase"},
                      {"ph", "X"},
                      {"ts", at},
                      {"dur", taken},
                      {"pid", process},
                      {"tid", 0},
                      {"args", std::move(arguments)}});
    at += taken;
    if (auto event = counter_event(phase.end, at, process); !event.is_null()) events.push_back(std::move(event));
  }
}

}  // namespace

std::string chrome_trace(const RunDocument& document) {
  Json events = Json::array();
  std::optional<double> first;
  for (const auto& device : document.devices)
    for (const auto& launch : device.launches) {
      const double begun = seconds_of(launch.started_at);
      if (!first || begun < *first) first = begun;
    }
  for (const auto& device : document.devices)
    for (const auto& launch : device.launches)
      add_launch(events, document, device, launch, 1e6 * (seconds_of(launch.started_at) - first.value_or(0)));
  const Json trace{{"traceEvents", std::move(events)},
                   {"displayTimeUnit", "ms"},
                   {"otherData",
                    {{"run", document.run.id},
                     {"assay", document.run.suite_version},
                     {"note", "phases are laid end to end; what passed between them was not recorded"}}}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::exporting
