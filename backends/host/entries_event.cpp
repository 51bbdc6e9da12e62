// SPDX-License-Identifier: Apache-2.0
// Events: places in a stream's order, with the steady clock's time there.
#include <chrono>

#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

assay_status event_create(assay_device* device, uint32_t flags, assay_event** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("event_create", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("event_create", "the result");
    if ((flags & ~static_cast<uint32_t>(ASSAY_EVENT_TIMING)) != 0)
      return fail(ASSAY_INVALID_VALUE, "event_create: flags %u hold an unknown bit; pass 0 or ASSAY_EVENT_TIMING",
                  flags);
    DeviceState& state = *device->state;
    assay_event* event = runtime().events.take();
    try {
      const std::lock_guard lock(state.children.mutex);
      state.children.events.insert(event);
    } catch (...) {
      runtime().events.give(event);
      throw;
    }
    event->device = &state;
    event->timing = flags != 0;
    event->tag.store(Tag::event, std::memory_order_relaxed);
    *out = event;
    return ASSAY_OK;
  });
}

// A recording that is still to come needs only its point, so nothing is waited for.
assay_status event_destroy(assay_event* event) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(event)) return not_live("event_destroy", "event");
    DeviceState& state = *event->device;
    {
      const std::lock_guard lock(state.children.mutex);
      state.children.events.erase(event);
    }
    end_event(event);
    return state.check();
  });
}

assay_status event_record(assay_event* event, assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("event_record", event); status != ASSAY_OK) return status;
    if (const auto status = check("event_record", stream); status != ASSAY_OK) return status;
    if (event->device != stream->device)
      return fail(ASSAY_INVALID_VALUE,
                  "event_record: event and stream belong to different devices; record on the event's own");
    PointRef point = PointRef::create();
    // Under the event's lock, so that two threads that record leave the later submission as the latest.
    const std::lock_guard lock(event->mutex);
    runtime().scheduler.submit(*stream->lane, [point] { point->reach(now_ns()); });
    event->last = std::move(point);
    return ASSAY_OK;
  });
}

assay_status event_query(assay_event* event) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("event_query", event); status != ASSAY_OK) return status;
    const PointRef point = event->snapshot();
    if (point && !point->reached()) return ASSAY_NOT_READY;
    return event->device->check();
  });
}

assay_status event_synchronize(assay_event* event) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(event)) return not_live("event_synchronize", "event");
    if (const PointRef point = event->snapshot()) runtime().scheduler.wait(point);
    settle_pools(*event->device);
    return event->device->check();
  });
}

assay_status event_elapsed(assay_event* start, assay_event* end, double* out_ns) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("event_elapsed", start); status != ASSAY_OK) return status;
    if (const auto status = check("event_elapsed", end); status != ASSAY_OK) return status;
    if (out_ns == nullptr) return is_null("event_elapsed", "the result");
    if (!start->timing || !end->timing)
      return fail(ASSAY_INVALID_VALUE,
                  "event_elapsed: an event was made without timing; make both with ASSAY_EVENT_TIMING");
    const PointRef from = start->snapshot();
    const PointRef to = end->snapshot();
    if (!from || !to)
      return fail(ASSAY_INVALID_VALUE, "event_elapsed: an event was never recorded; record both and wait for them");
    if (!from->reached() || !to->reached())
      return fail(ASSAY_NOT_READY, "event_elapsed: an event has not completed; wait for both first");
    *out_ns = static_cast<double>(to->time_ns() - from->time_ns());
    return ASSAY_OK;
  });
}

}  // namespace assay::host
