// SPDX-License-Identifier: Apache-2.0
// Streams and events. Every stream is non-blocking; the default stream is never named.
#pragma once

#include "backends/gpu/device.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
assay_status stream_create(assay_device* handle, std::int32_t priority, assay_stream** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  auto stream = std::make_unique<StreamState<Rt>>();
  stream->device = device;
  if (const assay_status status = device->check("create a stream", Rt::stream_create(&stream->handle, priority));
      status != ASSAY_OK)
    return status;
  *out = adopt<assay_stream>(device->mutex, device->streams, std::move(stream));
  return ASSAY_OK;
}

// Ends a capture whose graph nobody will have.
template <GpuRuntime Rt>
void abandon_capture(StreamState<Rt>& stream) {
  if (!stream.capturing.exchange(false)) return;
  --stream.device->capturing;
  typename Rt::Graph graph{};
  if (stream.device->check("end a capture", Rt::capture_end(stream.handle, &graph)) == ASSAY_OK)
    static_cast<void>(stream.device->check("destroy a graph", Rt::graph_destroy(graph)));
}

// Waits for the stream's work, then gives it back. The first failure is returned; the handle is gone either way.
template <GpuRuntime Rt>
assay_status close_stream(StreamState<Rt>& stream) {
  abandon_capture(stream);
  const assay_status waited = stream.device->check("wait for a stream", Rt::stream_synchronize(stream.handle));
  const assay_status closed = stream.device->check("destroy a stream", Rt::stream_destroy(stream.handle));
  return waited != ASSAY_OK ? waited : closed;
}

template <GpuRuntime Rt>
assay_status stream_destroy(assay_stream* handle) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  auto* device = stream->device;
  assay_status status = device->enter();
  if (status == ASSAY_OK) status = close_stream(*stream);
  drop(device->mutex, device->streams, stream);
  return status;
}

// A query or a wait would break a capture: refused before the runtime sees it.
template <GpuRuntime Rt>
assay_status enter_idle(StreamState<Rt>& stream) {
  if (const assay_status status = stream.device->enter(); status != ASSAY_OK) return status;
  if (stream.capturing.load())
    return refuse<Rt>(ASSAY_INVALID_VALUE,
                      "the stream captures a graph; end the capture before asking for its progress");
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status stream_query(assay_stream* handle) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_idle(*stream); status != ASSAY_OK) return status;
  return stream->device->check("query a stream", Rt::stream_query(stream->handle));
}

template <GpuRuntime Rt>
assay_status stream_synchronize(assay_stream* handle) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_idle(*stream); status != ASSAY_OK) return status;
  return stream->device->check("wait for a stream", Rt::stream_synchronize(stream->handle));
}

template <GpuRuntime Rt>
assay_status stream_wait_event(assay_stream* stream_handle, assay_event* event_handle) {
  auto* stream = state<Rt>(stream_handle);
  auto* event = state<Rt>(event_handle);
  if (stream == nullptr || event == nullptr) return missing_argument<Rt>();
  if (const assay_status status = stream->device->enter(); status != ASSAY_OK) return status;
  if (!event->recorded.load()) return ASSAY_OK;  // never recorded counts as complete
  return stream->device->check("make a stream wait for an event", Rt::stream_wait_event(stream->handle, event->handle));
}

template <GpuRuntime Rt>
assay_status event_create(assay_device* handle, std::uint32_t flags, assay_event** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if ((flags & ~static_cast<std::uint32_t>(ASSAY_EVENT_TIMING)) != 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown event flag");
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  auto event = std::make_unique<EventState<Rt>>();
  event->device = device;
  event->timing = (flags & ASSAY_EVENT_TIMING) != 0;
  if (const assay_status status = device->check("create an event", Rt::event_create(&event->handle, event->timing));
      status != ASSAY_OK)
    return status;
  *out = adopt<assay_event>(device->mutex, device->events, std::move(event));
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status event_destroy(assay_event* handle) {
  auto* event = state<Rt>(handle);
  if (event == nullptr) return missing_argument<Rt>();
  auto* device = event->device;
  assay_status status = device->enter();
  if (status == ASSAY_OK) status = device->check("destroy an event", Rt::event_destroy(event->handle));
  drop(device->mutex, device->events, event);
  return status;
}

template <GpuRuntime Rt>
assay_status event_record(assay_event* event_handle, assay_stream* stream_handle) {
  auto* event = state<Rt>(event_handle);
  auto* stream = state<Rt>(stream_handle);
  if (event == nullptr || stream == nullptr) return missing_argument<Rt>();
  if (event->device != stream->device)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "an event is recorded on a stream of its own device only");
  if (const assay_status status = event->device->enter(); status != ASSAY_OK) return status;
  const assay_status status = event->device->check("record an event", Rt::event_record(event->handle, stream->handle));
  if (status == ASSAY_OK) event->recorded.store(true);
  return status;
}

// The runtimes differ on an event that was never recorded; the table does not.
template <GpuRuntime Rt>
assay_status event_query(assay_event* handle) {
  auto* event = state<Rt>(handle);
  if (event == nullptr) return missing_argument<Rt>();
  if (const assay_status status = event->device->enter(); status != ASSAY_OK) return status;
  if (!event->recorded.load()) return ASSAY_OK;
  return event->device->check("query an event", Rt::event_query(event->handle));
}

template <GpuRuntime Rt>
assay_status event_synchronize(assay_event* handle) {
  auto* event = state<Rt>(handle);
  if (event == nullptr) return missing_argument<Rt>();
  if (const assay_status status = event->device->enter(); status != ASSAY_OK) return status;
  if (!event->recorded.load()) return ASSAY_OK;
  return event->device->check("wait for an event", Rt::event_synchronize(event->handle));
}

// The runtime's number as it is: HIP has returned small negative ones, and rejecting those is the caller's decision.
template <GpuRuntime Rt>
assay_status event_elapsed(assay_event* start_handle, assay_event* end_handle, double* out_ns) {
  auto* start = state<Rt>(start_handle);
  auto* end = state<Rt>(end_handle);
  if (start == nullptr || end == nullptr || out_ns == nullptr) return missing_argument<Rt>();
  if (!start->timing || !end->timing)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "elapsed time needs two events created with timing");
  if (const assay_status status = start->device->enter(); status != ASSAY_OK) return status;
  if (!start->recorded.load() || !end->recorded.load())
    return refuse<Rt>(ASSAY_INVALID_VALUE, "elapsed time needs two recorded events");
  float milliseconds = 0.0F;
  const assay_status status =
      start->device->check("read elapsed time", Rt::event_elapsed(&milliseconds, start->handle, end->handle));
  if (status == ASSAY_OK) *out_ns = static_cast<double>(milliseconds) * 1e6;
  return status;
}

}  // namespace assay::gpu
