// SPDX-License-Identifier: Apache-2.0
// The members of the replay document's types, listed once: the same list writes them and reads them.
#pragma once

#include "results-schema/json/members.hpp"
#include "results-schema/types/replay.hpp"

namespace assay::json::detail {

template <class A, Of<ReplayOrigin> T>
void members(A& a, T& x) {
  a("format", x.format);
  a("framework", x.framework);
  a("framework_version", x.framework_version);
  a("platform", x.platform);
  a("device", x.device);
  a("settings", x.settings);
}

template <class A, Of<ReplayBeginning> T>
void members(A& a, T& x) {
  a("reconstructed", x.reconstructed);
  a("blocks", x.blocks);
  a("requested_bytes", x.requested_bytes);
}

template <class A, Of<ReplayCalls> T>
void members(A& a, T& x) {
  a("malloc", x.malloc);
  a("free", x.free);
  a("map", x.map);
  a("unmap", x.unmap);
  a("total", x.total);
}

template <class A, Of<ReplayRefusal> T>
void members(A& a, T& x) {
  a("at_beginning", x.at_beginning);
  a("event", x.event);
  a("time_us", x.time_us);
  a("requested_bytes", x.requested_bytes);
  a("stream", x.stream);
  a("cause", x.cause);
  a("sentence", x.sentence);
}

template <class A, Of<ReplaySeries> T>
void members(A& a, T& x) {
  a("events_per_point", x.events_per_point);
  a("event", x.event);
  a("time_us", x.time_us);
  a("requested_bytes", x.requested_bytes);
  a("active_bytes", x.active_bytes);
  a("reserved_bytes", x.reserved_bytes);
}

template <class A, Of<ReplayRun> T>
void members(A& a, T& x) {
  a("state", x.state);
  a("bytes", x.bytes);
  a("blocks", x.blocks);
}

template <class A, Of<ReplaySegment> T>
void members(A& a, T& x) {
  a("address", x.address);
  a("bytes", x.bytes);
  a("stream", x.stream);
  a("pool", x.pool);
  a("expandable", x.expandable);
  a("active_bytes", x.active_bytes);
  a("largest_free_bytes", x.largest_free_bytes);
  a("runs", x.runs);
}

template <class A, Of<ReplayStream> T>
void members(A& a, T& x) {
  a("stream", x.stream);
  a("reserved_bytes", x.reserved_bytes);
  a("active_bytes", x.active_bytes);
  a("free_bytes", x.free_bytes);
}

template <class A, Of<ReplayLayout> T>
void members(A& a, T& x) {
  a("requested_bytes", x.requested_bytes);
  a("active_bytes", x.active_bytes);
  a("reserved_bytes", x.reserved_bytes);
  a("free_bytes", x.free_bytes);
  a("free_pieces", x.free_pieces);
  a("largest_free_bytes", x.largest_free_bytes);
  a("streams", x.streams);
  a("segments", x.segments);
  a("segments_left_out", x.segments_left_out);
  a("runs_left_out", x.runs_left_out);
}

template <class A, Of<ReplayPolicy> T>
void members(A& a, T& x) {
  a("policy", x.policy);
  a("options", x.options);
  a("device", x.device);
  a("peak_requested_bytes", x.peak_requested_bytes);
  a("peak_active_bytes", x.peak_active_bytes);
  a("peak_reserved_bytes", x.peak_reserved_bytes);
  a("reserved_per_active", x.reserved_per_active);
  a("largest_free_block_bytes", x.largest_free_block_bytes);
  a("external_fragmentation", x.external_fragmentation);
  a("device_allocations", x.device_allocations);
  a("device_calls", x.device_calls);
  a("device_calls_at_beginning", x.device_calls_at_beginning);
  a("retries", x.retries);
  a("operations", x.operations);
  a("out_of_memory", x.out_of_memory);
  a("refusal", x.refusal);
  a("min_capacity_bytes", x.min_capacity_bytes);
  a("time_per_operation", x.time_per_operation);
  a("series", x.series);
  a("at_peak", x.at_peak);
}

template <class A, Of<ReplaySaving> T>
void members(A& a, T& x) {
  a("option", x.option);
  a("reserved_bytes", x.reserved_bytes);
  a("device_calls", x.device_calls);
}

template <class A, Of<ReplayBest> T>
void members(A& a, T& x) {
  a("options", x.options);
  a("tried", x.tried);
  a("peak_reserved_bytes", x.peak_reserved_bytes);
  a("device_calls", x.device_calls);
  a("default_peak_reserved_bytes", x.default_peak_reserved_bytes);
  a("default_device_calls", x.default_device_calls);
  a("fits", x.fits);
  a("savings", x.savings);
}

template <class A, Of<ReplayDivergence> T>
void members(A& a, T& x) {
  a("event", x.event);
  a("action", x.action);
  a("expected", x.expected);
  a("got", x.got);
}

template <class A, Of<ReplayCandidate> T>
void members(A& a, T& x) {
  a("address", x.address);
  a("requested_bytes", x.requested_bytes);
  a("least_bytes", x.least_bytes);
  a("most_bytes", x.most_bytes);
}

template <class A, Of<ReplayVerification> T>
void members(A& a, T& x) {
  a("device", x.device);
  a("outcome", x.outcome);
  a("options", x.options);
  a("allocations", x.allocations);
  a("allocations_matched", x.allocations_matched);
  a("segment_events", x.segment_events);
  a("segment_events_matched", x.segment_events_matched);
  a("blocks_at_beginning", x.blocks_at_beginning);
  a("sizes_inferred", x.sizes_inferred);
  a("first_divergence", x.first_divergence);
  a("candidates", x.candidates);
}

template <class A, Of<ReplayOnDevice> T>
void members(A& a, T& x) {
  a("target", x.target);
  a("policy", x.policy);
  a("options", x.options);
  a("device", x.device);
  a("peak_requested_bytes", x.peak_requested_bytes);
  a("peak_active_bytes", x.peak_active_bytes);
  a("peak_reserved_bytes", x.peak_reserved_bytes);
  a("device_allocations", x.device_allocations);
  a("retries", x.retries);
  a("bytes_written", x.bytes_written);
  a("blocks_checked", x.blocks_checked);
  a("blocks_overwritten", x.blocks_overwritten);
  a("first_overwritten", x.first_overwritten);
  a("out_of_memory", x.out_of_memory);
  a("failure", x.failure);
}

template <class A, Of<ReplayedTrace> T>
void members(A& a, T& x) {
  a("file", x.file);
  a("origin", x.origin);
  a("events", x.events);
  a("allocations", x.allocations);
  a("devices", x.devices);
  a("beginning", x.beginning);
  a("warnings", x.warnings);
  a("capacity_bytes", x.capacity_bytes);
  a("policies", x.policies);
  a("best", x.best);
  a("verification", x.verification);
  a("on_device", x.on_device);
}

}  // namespace assay::json::detail
