// SPDX-License-Identifier: Apache-2.0
// Streams.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {

// Every priority is accepted and none changes anything: the operating system shares the CPU.
assay_status stream_create(assay_device* device, int32_t, assay_stream** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("stream_create", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("stream_create", "the result");
    DeviceState& state = *device->state;
    assay_stream* stream = runtime().streams.take();
    try {
      const std::lock_guard lock(state.children.mutex);
      const auto place = state.children.streams.insert(stream).first;
      try {
        stream->lane = runtime().scheduler.open();
      } catch (...) {
        state.children.streams.erase(place);
        throw;
      }
    } catch (...) {
      runtime().streams.give(stream);
      throw;
    }
    stream->device = &state;
    stream->tag.store(Tag::stream, std::memory_order_relaxed);
    *out = stream;
    return ASSAY_OK;
  });
}

assay_status stream_destroy(assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(stream)) return not_live("stream_destroy", "stream");
    DeviceState& state = *stream->device;
    {
      const std::lock_guard lock(state.children.mutex);
      state.children.streams.erase(stream);
    }
    end_stream(stream);
    return state.check();
  });
}

assay_status stream_query(assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("stream_query", stream); status != ASSAY_OK) return status;
    if (!runtime().scheduler.idle(*stream->lane)) return ASSAY_NOT_READY;
    return stream->device->check();
  });
}

assay_status stream_synchronize(assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(stream)) return not_live("stream_synchronize", "stream");
    runtime().scheduler.drain({stream->lane.get()});
    settle_pools(*stream->device);
    return stream->device->check();
  });
}

assay_status stream_wait_event(assay_stream* stream, assay_event* event) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("stream_wait_event", stream); status != ASSAY_OK) return status;
    if (const auto status = check("stream_wait_event", event); status != ASSAY_OK) return status;
    if (PointRef point = event->snapshot())
      runtime().scheduler.submit(
          *stream->lane, [] {}, std::move(point));
    return ASSAY_OK;
  });
}

}  // namespace assay::host
