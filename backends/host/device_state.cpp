// SPDX-License-Identifier: Apache-2.0
// The sticky failure of a device, the module's one state, and the ends of handles.
#include "backends/host/device_state.hpp"

#include <cstdio>

#include "backends/host/handles.hpp"
#include "backends/host/status.hpp"

namespace assay::host {

void DeviceState::set_fault(const char* sentence) noexcept {
  const std::lock_guard lock(fault_mutex_);
  if (fault_[0] == '\0')
    std::snprintf(fault_, sizeof fault_, "%s", sentence[0] != '\0' ? sentence : "a kernel faulted");
  faulted_.store(true, std::memory_order_relaxed);
}

assay_status DeviceState::check() const {
  if (!faulted()) return ASSAY_OK;
  const std::lock_guard lock(fault_mutex_);
  return fail(ASSAY_KERNEL_FAULT, "host device %d cannot be used any more in this process: %s; start a new one",
              facts.ordinal, fault_);
}

Runtime& runtime() {
  static auto* const instance = new Runtime;
  return *instance;
}

void end_stream(assay_stream* stream) {
  stream->tag.store(Tag::dead, std::memory_order_relaxed);
  runtime().scheduler.close(*stream->lane);
  stream->lane.reset();
  runtime().streams.give(stream);
}

void end_event(assay_event* event) {
  event->tag.store(Tag::dead, std::memory_order_relaxed);
  event->last = PointRef();
  runtime().events.give(event);
}

void end_pool(assay_pool* pool) {
  pool->tag.store(Tag::dead, std::memory_order_relaxed);
  pool->pool.reset();
  runtime().pools.give(pool);
}

void end_physical(assay_physical* physical) {
  physical->tag.store(Tag::dead, std::memory_order_relaxed);
  physical->device->memory.drop(std::move(physical->extent));
  physical->extent.reset();
  runtime().physicals.give(physical);
}

}  // namespace assay::host
