// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: address ranges, physical memory, mappings.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {

assay_status vmm_granularity(assay_device* device, size_t* minimum, size_t* recommended) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_granularity", device); status != ASSAY_OK) return status;
    if (minimum == nullptr || recommended == nullptr) return is_null("vmm_granularity", "a result");
    *minimum = Memory::kGranularity;
    *recommended = Memory::kGranularity;
    return ASSAY_OK;
  });
}

assay_status vmm_reserve(assay_device* device, size_t bytes, void** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_reserve", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("vmm_reserve", "the result");
    return device->state->memory.reserve(bytes, out);
  });
}

assay_status vmm_unreserve(assay_device* device, void* address, size_t bytes) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_unreserve", device); status != ASSAY_OK) return status;
    return device->state->memory.unreserve(address, bytes);
  });
}

assay_status vmm_create(assay_device* device, size_t bytes, uint32_t owner, assay_physical** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_create", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("vmm_create", "the result");
    if (const auto status = check_owner("vmm_create", owner); status != ASSAY_OK) return status;
    DeviceState& state = *device->state;
    assay_physical* physical = runtime().physicals.take();
    const auto status = guarded([&]() -> assay_status {
      const std::lock_guard lock(state.children.mutex);
      const auto place = state.children.physicals.insert(physical).first;
      const auto created = state.memory.create(bytes, owner, &physical->extent);
      if (created != ASSAY_OK) state.children.physicals.erase(place);
      return created;
    });
    if (status != ASSAY_OK) {
      runtime().physicals.give(physical);
      return status;
    }
    physical->device = &state;
    physical->tag.store(Tag::physical, std::memory_order_relaxed);
    *out = physical;
    return ASSAY_OK;
  });
}

// Memory that is still mapped goes with its last mapping.
assay_status vmm_release(assay_device* device, assay_physical* physical) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(device)) return not_live("vmm_release", "device");
    DeviceState& state = *device->state;
    if (!live(physical) || physical->device != &state) return not_live("vmm_release", "physical memory of this device");
    {
      const std::lock_guard lock(state.children.mutex);
      state.children.physicals.erase(physical);
    }
    end_physical(physical);
    return state.check();
  });
}

assay_status vmm_map(assay_device* device, void* address, size_t bytes, assay_physical* physical) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_map", device); status != ASSAY_OK) return status;
    if (!live(physical) || physical->device != device->state.get())
      return not_live("vmm_map", "physical memory of this device");
    return device->state->memory.map(address, bytes, physical->extent);
  });
}

// The caller must have waited for work that uses the range. Touching it afterwards would end the process, so work that
// is still queued is let finish, without lending the caller the order it did not ask for.
assay_status vmm_unmap(assay_device* device, void* address, size_t bytes) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("vmm_unmap", device); status != ASSAY_OK) return status;
    runtime().scheduler.drain_all(Scheduler::Ordering::unordered);
    return device->state->memory.unmap(address, bytes);
  });
}

}  // namespace assay::host
