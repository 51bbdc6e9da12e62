// SPDX-License-Identifier: Apache-2.0
// Results as document values. Parts of the same name go across one by one.
#include "suite/replay/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::replay {
namespace {

std::int64_t number(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}
std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

// Ratios to six decimals: what a document holds must not depend on the last bit of a division.
double ratio(double value) {
  return std::round(value * 1e6) / 1e6;
}

ReplayCalls calls_of(const DeviceCallCounts& calls) {
  return {calls.malloc, calls.free, calls.map, calls.unmap, calls.total()};
}

std::string_view state_of(allocator::BlockState state) {
  switch (state) {
    case allocator::BlockState::active_allocated:
      return "active_allocated";
    case allocator::BlockState::active_pending_free:
      return "active_pending_free";
    case allocator::BlockState::inactive:
      return "inactive";
  }
  return "inactive";
}

ReplayLayout layout_values(const Layout& layout) {
  ReplayLayout out;
  out.requested_bytes = number(layout.requested_bytes);
  out.active_bytes = number(layout.active_bytes);
  out.reserved_bytes = number(layout.reserved_bytes);
  out.free_bytes = number(layout.free_bytes);
  out.free_pieces = number(layout.free_pieces);
  out.largest_free_bytes = number(layout.largest_free_bytes);
  for (const StreamShare& share : layout.streams)
    out.streams.push_back({hexadecimal(share.stream), number(share.reserved_bytes), number(share.active_bytes),
                           number(share.free_bytes)});
  for (const MappedSegment& segment : layout.segments) {
    ReplaySegment one{hexadecimal(segment.address),
                      number(segment.bytes),
                      hexadecimal(segment.stream),
                      segment.small_pool ? "small" : "large",
                      segment.expandable,
                      number(segment.active_bytes),
                      number(segment.largest_free_bytes),
                      {}};
    for (const Run& run : segment.runs)
      one.runs.push_back({std::string(state_of(run.state)), number(run.bytes), number(run.blocks)});
    out.segments.push_back(std::move(one));
  }
  out.segments_left_out = number(layout.segments_left_out);
  out.runs_left_out = number(layout.runs_left_out);
  return out;
}

ReplaySeries series_values(const PolicyOutcome& outcome) {
  ReplaySeries series;
  series.events_per_point = static_cast<std::int64_t>(outcome.events_per_point);
  const bool timed = std::any_of(outcome.series.begin(), outcome.series.end(),
                                 [](const SeriesPoint& point) { return point.time_us >= 0; });
  for (const SeriesPoint& point : outcome.series) {
    series.event.push_back(static_cast<std::int64_t>(point.event));
    if (timed) series.time_us.push_back(point.time_us);
    series.requested_bytes.push_back(number(point.requested_bytes));
    series.active_bytes.push_back(number(point.active_bytes));
    series.reserved_bytes.push_back(number(point.reserved_bytes));
  }
  return series;
}

}  // namespace

ReplayedTrace describe(const TraceInput& trace) {
  const auto& origin = trace.header().origin;
  ReplayedTrace out;
  out.file = trace.path();
  out.origin = {std::string(trace::to_text(origin.format)),
                origin.framework,
                origin.framework_version,
                origin.platform,
                origin.device,
                origin.settings};
  out.events = static_cast<std::int64_t>(trace.events());
  out.allocations = static_cast<std::int64_t>(trace.allocations());
  out.devices = trace.devices();
  const Beginning& beginning = trace.beginning();
  out.beginning = {beginning.reconstructed, number(beginning.blocks.size()), beginning.requested_bytes()};
  out.warnings = trace.header().warnings;
  return out;
}

ReplayPolicy describe(const PolicyOutcome& outcome) {
  ReplayPolicy out;
  out.policy = outcome.choice.policy;
  out.options = outcome.choice.options;
  out.device = outcome.device;
  out.peak_requested_bytes = number(outcome.peaks.requested_bytes);
  out.peak_active_bytes = number(outcome.peaks.active_bytes);
  out.peak_reserved_bytes = number(outcome.peaks.reserved_bytes);
  if (outcome.peaks.active_bytes > 0)
    out.reserved_per_active =
        ratio(static_cast<double>(outcome.peaks.reserved_bytes) / static_cast<double>(outcome.peaks.active_bytes));
  out.largest_free_block_bytes = number(outcome.at_peak.largest_free_bytes);
  out.external_fragmentation = ratio(outcome.at_peak.external_fragmentation());
  out.device_allocations = outcome.calls.malloc + outcome.calls.map;
  out.device_calls = calls_of(outcome.calls);
  out.device_calls_at_beginning = calls_of(outcome.calls_at_beginning);
  out.retries = outcome.retries;
  out.operations = static_cast<std::int64_t>(outcome.operations);
  if (const auto& refusal = outcome.refusal) {
    out.out_of_memory = refusal->error.code == ErrorCode::out_of_memory;
    out.refusal = ReplayRefusal{refusal->at_beginning,
                                static_cast<std::int64_t>(refusal->event),
                                std::nullopt,
                                refusal->requested_bytes,
                                hexadecimal(refusal->stream),
                                refusal->cause,
                                refusal->sentence};
    if (refusal->time_us >= 0) out.refusal->time_us = refusal->time_us;
  }
  out.time_per_operation = Quantity{outcome.ns_per_operation, "ns", Basis::observed, {}};
  out.series = series_values(outcome);
  out.at_peak = layout_values(outcome.at_peak);
  return out;
}

ReplayBest describe(const Best& best) {
  ReplayBest out;
  out.options = best.options;
  out.tried = number(best.tried);
  out.peak_reserved_bytes = number(best.need.reserved_bytes);
  out.device_calls = best.need.device_calls;
  out.default_peak_reserved_bytes = number(best.of_defaults.reserved_bytes);
  out.default_device_calls = best.of_defaults.device_calls;
  out.fits = !best.need.refused;
  for (const Saving& saving : best.savings)
    out.savings.push_back({saving.option, saving.reserved_bytes, saving.device_calls});
  return out;
}

ReplayVerification describe(const Verification& verification) {
  ReplayVerification out;
  out.device = verification.device;
  out.outcome = verification.agreement == Agreement::matched    ? "matched"
                : verification.agreement == Agreement::diverged ? "diverged"
                                                                : "ambiguous";
  out.options = verification.options;
  out.allocations = number(verification.allocations);
  out.allocations_matched = number(verification.allocations_matched);
  out.segment_events = number(verification.segment_events);
  out.segment_events_matched = number(verification.segment_events_matched);
  out.blocks_at_beginning = number(verification.blocks_at_beginning);
  out.sizes_inferred = number(verification.sizes_inferred);
  if (const auto& first = verification.first_divergence)
    out.first_divergence =
        ReplayDivergence{static_cast<std::int64_t>(first->event), first->action, first->expected, first->got};
  for (const CandidateSizes& one : verification.candidates)
    out.candidates.push_back(
        {hexadecimal(one.address), number(one.requested_bytes), number(one.least_bytes), number(one.most_bytes)});
  return out;
}

}  // namespace assay::replay
