// SPDX-License-Identifier: Apache-2.0
// Memory over time in the JSON format of Chrome's tracing.
#include <nlohmann/json.hpp>
#include <string>

#include "suite/replay/describe.hpp"

namespace assay::replay {
namespace {

using Json = nlohmann::ordered_json;

void add_policy(Json& events, int process, const std::string& name, const ReplaySeries& series) {
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}});
  for (std::size_t i = 0; i < series.event.size(); ++i) {
    const std::int64_t time = series.time_us.empty() ? series.event[i] : series.time_us[i];
    events.push_back({{"ph", "C"},
                      {"name", "memory"},
                      {"pid", process},
                      {"ts", time},
                      {"args",
                       {{"requested_bytes", series.requested_bytes[i]},
                        {"active_bytes", series.active_bytes[i]},
                        {"reserved_bytes", series.reserved_bytes[i]}}}});
  }
}

}  // namespace

std::string chrome_trace(const std::vector<ReplayedTrace>& traces) {
  Json events = Json::array();
  int process = 0;
  for (const ReplayedTrace& trace : traces)
    for (const ReplayPolicy& policy : trace.policies) {
      if (!policy.series) continue;
      std::string name = trace.file + ": " + policy.policy;
      if (!policy.options.empty()) name += " " + policy.options;
      if (trace.devices > 1) name += ", device " + std::to_string(policy.device);
      add_policy(events, ++process, name, *policy.series);
    }
  const Json whole{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return whole.dump(0, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::replay
