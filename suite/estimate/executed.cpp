// SPDX-License-Identifier: Apache-2.0
// Follows inputs, prefill and every decode step through the tracker of the memory protocol.
#include "suite/estimate/executed.hpp"

#include <fmt/format.h>

#include "suite/measure/forward/network.hpp"

namespace assay::estimate {
namespace {

using allocator::Category;

std::size_t at(Category category) {
  return static_cast<std::size_t>(category);
}

std::string shape_of(const Workload& w) {
  return fmt::format("batch {}, prompt {}, decode {}, {}", w.batch, w.prompt_tokens, w.decode_tokens, w.storage_dtype);
}

}  // namespace

std::vector<ExecutedLine> executed_lines(const Workload& workload) {
  std::vector<ExecutedLine> lines;
  constexpr const char* kFormula = "the passes of assay measure, followed allocation by allocation";
  const auto unknown = [&](const std::string& reason) {
    Figure figure;
    figure.formula = kFormula;
    figure.reason = reason;
    lines.push_back({"total_peak_bytes", figure});
    return lines;
  };
  if (workload.decode_tokens > kMaxFollowedSteps)
    return unknown(fmt::format("{} steps of decoding are more than the {} that are followed", workload.decode_tokens,
                               kMaxFollowedSteps));
  auto network = measure::make_network(workload);
  if (!network) return unknown(network.error().text);
  const auto add = [&](const char* name, std::int64_t bytes) {
    lines.push_back({name, {bytes, kFormula, shape_of(workload), {}}});
  };
  measure::RequestTracker tracker((*network)->slot_count());
  measure::Pass pass;
  (*network)->inputs(pass);
  tracker.follow(pass);
  add("weights_bytes", (*network)->weights().bytes);
  add("inputs_bytes", tracker.bytes().live[at(Category::inputs)]);
  add("output_bytes", tracker.bytes().live[at(Category::output)]);
  tracker.reset_peaks();
  pass.clear();
  (*network)->prefill(pass);
  tracker.follow(pass);
  std::int64_t peak = tracker.bytes().total_peak;
  add("prefill.activation_peak_bytes", tracker.bytes().peak[at(Category::activation)]);
  add("prefill.workspace_peak_bytes", tracker.bytes().peak[at(Category::workspace)]);
  add("prefill.kv_bytes", tracker.bytes().live[at(Category::kv)]);
  if (workload.decode_tokens > 0) {
    tracker.reset_peaks();
    for (std::int64_t step = 0; step < workload.decode_tokens; ++step) {
      pass.clear();
      (*network)->decode(step, pass);
      tracker.follow(pass);
    }
    peak = std::max(peak, tracker.bytes().total_peak);
    add("decode.activation_peak_bytes", tracker.bytes().peak[at(Category::activation)]);
    add("decode.workspace_peak_bytes", tracker.bytes().peak[at(Category::workspace)]);
    add("decode.kv_bytes", tracker.bytes().live[at(Category::kv)]);
    add("decode.kv_peak_bytes", tracker.bytes().peak[at(Category::kv)]);  // old and new copy of a growing cache
  }
  add("total_peak_bytes", (*network)->weights().bytes + peak);
  return lines;
}

}  // namespace assay::estimate
