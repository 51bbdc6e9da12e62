// SPDX-License-Identifier: Apache-2.0
// Opening, closing and asking a device.
#include <vector>

#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"
#include "backends/host/kernel_table.hpp"
#include "backends/host/options.hpp"
#include "backends/host/sanitizer.hpp"
#include "backends/host/system.hpp"

namespace assay::host {

void drain_device(DeviceState& device) {
  std::vector<Lane*> lanes;
  {
    const std::lock_guard lock(device.children.mutex);
    for (const assay_stream* stream : device.children.streams) lanes.push_back(stream->lane.get());
  }
  runtime().scheduler.drain(lanes);
}

void settle_pools(DeviceState& device) {
  const std::lock_guard lock(device.children.mutex);
  for (const assay_pool* pool : device.children.pools) pool->pool->after_waiting();
}

assay_status device_open(int32_t ordinal, const assay_option* options, size_t count, assay_device** out) noexcept {
  return guarded([&]() -> assay_status {
    if (out == nullptr) return is_null("device_open", "the result");
    if (ordinal < 0 || ordinal > 1)
      return fail(ASSAY_INVALID_VALUE,
                  "device_open: the host module has devices 0 and 1 and no device %d; choose one of them", ordinal);
    DeviceOptions parsed;
    if (const auto status = parse_options(options, count, &parsed); status != ASSAY_OK) return status;
    DeviceFacts facts;
    facts.ordinal = ordinal;
    facts.machine_bytes = machine_memory_bytes();
    facts.memory_bytes_given = parsed.memory_bytes != 0;
    facts.memory_bytes = facts.memory_bytes_given ? parsed.memory_bytes : facts.machine_bytes / 2;
    facts.stream_model = kThreadSanitizer ? "fibres" : "threads";
    facts.executor = parsed.executor;
    auto state = std::make_unique<DeviceState>(facts);
    assay_device* device = runtime().devices.take();
    device->state = std::move(state);
    device->tag.store(Tag::device, std::memory_order_relaxed);
    *out = device;
    return ASSAY_OK;
  });
}

assay_status device_close(assay_device* device) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("device_close", "device");
    device->tag.store(Tag::dead, std::memory_order_relaxed);
    DeviceState& state = *device->state;
    Children left;
    {
      const std::lock_guard lock(state.children.mutex);
      left.streams.swap(state.children.streams);
      left.events.swap(state.children.events);
      left.pools.swap(state.children.pools);
      left.physicals.swap(state.children.physicals);
    }
    for (assay_stream* stream : left.streams) end_stream(stream);
    for (assay_event* event : left.events) end_event(event);
    for (assay_physical* physical : left.physicals) end_physical(physical);
    for (assay_pool* pool : left.pools) end_pool(pool);
    // A stream of the other device may still be copying from or to this one's memory.
    runtime().scheduler.drain_all(Scheduler::Ordering::after_work);
    device->state.reset();
    runtime().devices.give(device);
    return ASSAY_OK;
  });
}

assay_status device_identity(assay_device* device, assay_field_sink sink, void* context) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("device_identity", device); status != ASSAY_OK) return status;
    if (sink == nullptr) return is_null("device_identity", "the sink");
    emit_identity(device->state->facts, sink, context);
    return ASSAY_OK;
  });
}

assay_status device_sensors(assay_device* device, assay_field_sink sink, void* context) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("device_sensors", device); status != ASSAY_OK) return status;
    if (sink == nullptr) return is_null("device_sensors", "the sink");
    emit_sensors(device->state->facts, sink, context);
    return ASSAY_OK;
  });
}

assay_status device_capability(assay_device* device, int32_t capability, int32_t* supported) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("device_capability", device); status != ASSAY_OK) return status;
    if (supported == nullptr) return is_null("device_capability", "the result");
    switch (capability) {
      case ASSAY_CAPABILITY_VMM:
      case ASSAY_CAPABILITY_PEER:
      case ASSAY_CAPABILITY_POOL:
        *supported = 1;
        return ASSAY_OK;
      case ASSAY_CAPABILITY_GRAPH:
        *supported = 0;
        return ASSAY_OK;
      default:
        return fail(ASSAY_INVALID_VALUE, "device_capability: %d is no capability; see ASSAY_CAPABILITY_*", capability);
    }
  });
}

assay_status device_synchronize(assay_device* device) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("device_synchronize", "device");
    drain_device(*device->state);
    settle_pools(*device->state);
    return device->state->check();
  });
}

assay_status kernel_resources(assay_device* device, int32_t index, assay_kernel_resources* out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("kernel_resources", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("kernel_resources", "the result");
    if (index < 0 || static_cast<std::size_t>(index) >= kernel_table().size())
      return fail(ASSAY_INVALID_VALUE, "kernel_resources: there is no kernel %d; ask kernel_count", index);
    // A CPU has no such allotment per thread; what it can run at once is the target's block.
    *out =
        assay_kernel_resources{-1, -1, -1, static_cast<int32_t>(device->state->executor.target().max_threads), -1, -1};
    return ASSAY_OK;
  });
}

}  // namespace assay::host
