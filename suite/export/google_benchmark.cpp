// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/compare/cases.hpp"
#include "suite/export/export.hpp"
#include "suite/report/facts.hpp"

namespace assay::exporting {
namespace {

using Json = nlohmann::ordered_json;

// Names are one word there: blanks would end them in tables.
std::string one_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

void add_case(Json& benchmarks, const std::string& device, const compare::TimedCase& timed) {
  const auto name = one_word(device + "/" + timed.key.name);
  for (std::size_t i = 0; i < timed.launches.size(); ++i)
    benchmarks.push_back({{"name", name},
                          {"run_name", name},
                          {"run_type", "iteration"},
                          {"repetitions", timed.launches.size()},
                          {"repetition_index", i},
                          {"threads", 1},
                          {"iterations", 1},
                          {"real_time", timed.launches[i].median},
                          {"cpu_time", timed.launches[i].median},
                          {"time_unit", "ns"}});
}

}  // namespace

std::string google_benchmark(const RunDocument& document) {
  const compare::Source source{"", document};
  Json benchmarks = Json::array();
  Json device_context = Json::array();
  for (const auto& section : source.document.devices) {
    compare::Series series;
    series.parts.push_back({&source, &section});
    device_context.push_back(report::device_line(section));
    for (const auto& timed : compare::timed_cases(series))
      if (timed.unit == "ns" && timed.wrong.empty()) add_case(benchmarks, section.name, timed);
  }
  const Json out{
      {"context",
       {{"date", document.run.started_at},
        {"host_name", document.devices.empty() ? std::string("unknown")
                                               : report::field_text(document.devices.front().identity, "host_name")},
        {"executable", "assay"},
        {"num_cpus", 1},
        {"mhz_per_cpu", 1},
        {"cpu_scaling_enabled", false},
        {"caches", Json::array()},
        {"load_avg", Json::array()},
        {"library_build_type", "release"},
        {"assay_run", document.run.id},
        {"assay_devices", std::move(device_context)}}},
      {"benchmarks", std::move(benchmarks)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::exporting
