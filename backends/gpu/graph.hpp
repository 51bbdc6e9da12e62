// SPDX-License-Identifier: Apache-2.0
// Captured work, replayed as one submission.
#pragma once

#include "backends/gpu/probe.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
assay_status graph_begin(assay_stream* handle) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  auto* device = stream->device;
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  if (stream->capturing.load()) return refuse<Rt>(ASSAY_INVALID_VALUE, "the stream already captures a graph");
  if (const assay_status status = enter_with(*device, ASSAY_CAPABILITY_GRAPH); status != ASSAY_OK) return status;
  if (const assay_status status = device->check("begin a capture", Rt::capture_begin(stream->handle));
      status != ASSAY_OK)
    return status;
  stream->capturing.store(true);
  ++device->capturing;
  return ASSAY_OK;
}

// The capture is over whether this succeeds or not.
template <GpuRuntime Rt>
assay_status graph_end(assay_stream* handle, assay_graph** out) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr || out == nullptr) return missing_argument<Rt>();
  auto* device = stream->device;
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  if (!stream->capturing.exchange(false)) {
    if (const assay_status status = enter_with(*device, ASSAY_CAPABILITY_GRAPH); status != ASSAY_OK) return status;
    return refuse<Rt>(ASSAY_INVALID_VALUE, "the stream captures no graph");
  }
  --device->capturing;
  typename Rt::Graph captured{};
  if (const assay_status status = device->check("end a capture", Rt::capture_end(stream->handle, &captured));
      status != ASSAY_OK)
    return status;
  auto graph = std::make_unique<GraphState<Rt>>();
  graph->device = device;
  const assay_status made = device->check("instantiate a graph", Rt::graph_instantiate(&graph->handle, captured));
  if (made != ASSAY_OK) {
    const auto words = error_buffer<Rt>();
    static_cast<void>(device->check("destroy a graph", Rt::graph_destroy(captured)));
    error_buffer<Rt>() = words;
    return made;
  }
  if (const assay_status status = device->check("destroy a graph", Rt::graph_destroy(captured)); status != ASSAY_OK) {
    static_cast<void>(Rt::graph_exec_destroy(graph->handle));
    return status;
  }
  *out = adopt<assay_graph>(device->mutex, device->graphs, std::move(graph));
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status graph_launch(assay_graph* graph_handle, assay_stream* stream_handle) {
  auto* graph = state<Rt>(graph_handle);
  auto* stream = state<Rt>(stream_handle);
  if (graph == nullptr || stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = graph->device->enter(); status != ASSAY_OK) return status;
  return graph->device->check("launch a graph", Rt::graph_launch(graph->handle, stream->handle));
}

// Waits for the device first (not while it captures): HIP does not promise that a replay outlives its graph.
template <GpuRuntime Rt>
assay_status close_graph(GraphState<Rt>& graph) {
  auto& device = *graph.device;
  assay_status waited = ASSAY_OK;
  if (device.capturing.load() == 0) waited = device.check("wait for the device", Rt::device_synchronize());
  const assay_status closed = device.check("destroy a graph", Rt::graph_exec_destroy(graph.handle));
  return waited != ASSAY_OK ? waited : closed;
}

template <GpuRuntime Rt>
assay_status graph_destroy(assay_graph* handle) {
  auto* graph = state<Rt>(handle);
  if (graph == nullptr) return missing_argument<Rt>();
  auto* device = graph->device;
  assay_status status = device->enter();
  if (status == ASSAY_OK) status = close_graph(*graph);
  drop(device->mutex, device->graphs, graph);
  return status;
}

}  // namespace assay::gpu
