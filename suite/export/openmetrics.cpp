// SPDX-License-Identifier: Apache-2.0
// OpenMetrics text.
#include <fmt/format.h>

#include <map>

#include "suite/compare/cases.hpp"
#include "suite/export/export.hpp"
#include "suite/report/facts.hpp"
#include "suite/stats/summary.hpp"

namespace assay::exporting {
namespace {

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// One family of metrics: its lines stand together, as the format demands.
struct Family {
  std::string unit;
  std::string help;
  std::string lines;
};

std::string text_of(const std::map<std::string, Family>& families) {
  std::string out;
  for (const auto& [name, family] : families) {
    out += fmt::format("# TYPE {} gauge\n", name);
    if (!family.unit.empty()) out += fmt::format("# UNIT {} {}\n", name, family.unit);
    out += fmt::format("# HELP {} {}\n", name, family.help) + family.lines;
  }
  return out + "# EOF\n";
}

}  // namespace

std::string openmetrics(const RunDocument& document) {
  const compare::Source source{"", document};
  std::map<std::string, Family> families;
  const auto add = [&families](const std::string& name, const char* unit, const char* help, const std::string& labels,
                               const std::string& value) {
    auto& family = families[name];
    family.unit = unit;
    family.help = help;
    family.lines += fmt::format("{}{{{}}} {}\n", name, labels, value);
  };
  for (const auto& section : source.document.devices) {
    compare::Series series;
    series.parts.push_back({&source, &section});
    const auto who = fmt::format("device=\"{}\",backend=\"{}\",arch=\"{}\"", label(section.name),
                                 label(report::field_text(section.identity, "backend")),
                                 label(report::field_text(section.identity, "arch")));
    for (const auto& timed : compare::timed_cases(series)) {
      if (timed.launches.empty() || !timed.wrong.empty()) continue;
      std::vector<double> medians;
      for (const auto& launch : timed.launches) medians.push_back(launch.median);
      const double middle = stats::median(medians);
      const auto labels = fmt::format("{},case=\"{}\"", who, label(timed.key.name));
      if (timed.unit == "ns")
        add("assay_case_duration_seconds", "seconds", "Median over launches of each launch's median.", labels,
            fmt::format("{}", middle / 1e9));
      else
        add("assay_case_value", "", "Median over launches of each launch's median, in the unit of the label.",
            fmt::format("{},unit=\"{}\"", labels, label(timed.unit)), fmt::format("{}", middle));
      add("assay_case_launches", "", "Launches behind the median.", labels, fmt::format("{}", medians.size()));
    }
    for (const auto& peak : compare::memory_cases(series))
      add("assay_phase_peak_bytes", "bytes", "Highest peak of a phase over launches and repeats.",
          fmt::format("{},phase=\"{}\"", who, label(peak.key.name)), fmt::format("{}", peak.highest));
  }
  add("assay_run_ok", "", "1 when every launch ended well, 0 otherwise.",
      fmt::format("run=\"{}\"", label(document.run.id)), document.status == DocumentStatus::ok ? "1" : "0");
  return text_of(families);
}

}  // namespace assay::exporting
