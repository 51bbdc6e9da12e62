// SPDX-License-Identifier: Apache-2.0
// Device memory with an address, and host memory for copies.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {

// Answers even after a fault: the last counters are part of what a failure leaves behind.
assay_status memory_info(assay_device* device, assay_memory_info* out) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("memory_info", "device");
    if (out == nullptr) return is_null("memory_info", "the result");
    device->state->memory.read(*out);
    return ASSAY_OK;
  });
}

assay_status device_malloc(assay_device* device, size_t bytes, uint32_t owner, void** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("malloc", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("malloc", "the result");
    if (bytes == 0) return fail(ASSAY_INVALID_VALUE, "malloc: 0 bytes asked; ask for at least one");
    if (const auto status = check_owner("malloc", owner); status != ASSAY_OK) return status;
    return device->state->memory.allocate(bytes, owner, out);
  });
}

assay_status device_free(assay_device* device, void* pointer) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("free", "device");
    DeviceState& state = *device->state;
    if (pointer == nullptr) return state.check();
    if (state.memory.is_block(pointer)) runtime().scheduler.drain_all(Scheduler::Ordering::after_work);
    const auto status = state.memory.release(pointer);
    return state.faulted() ? state.check() : status;
  });
}

assay_status host_malloc(assay_device* device, size_t bytes, void** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("host_malloc", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("host_malloc", "the result");
    if (bytes == 0) return fail(ASSAY_INVALID_VALUE, "host_malloc: 0 bytes asked; ask for at least one");
    return device->state->memory.allocate_host(bytes, out);
  });
}

assay_status host_free(assay_device* device, void* pointer) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("host_free", "device");
    DeviceState& state = *device->state;
    if (pointer == nullptr) return state.check();
    runtime().scheduler.drain_all(Scheduler::Ordering::after_work);
    const auto status = state.memory.release_host(pointer);
    return state.faulted() ? state.check() : status;
  });
}

}  // namespace assay::host
