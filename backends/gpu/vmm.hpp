// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reserved addresses, physical memory, and the mappings between them.
#pragma once

#include <utility>
#include <vector>

#include "backends/gpu/descriptors.hpp"
#include "backends/gpu/probe.hpp"

namespace assay::gpu {

// Refuses sizes and addresses that are no multiple of the granularity: HIP's versions differ in which of them they
// take.
template <GpuRuntime Rt>
assay_status enter_vmm(DeviceState<Rt>& device, std::size_t bytes, const void* address) {
  if (const assay_status status = enter_with(device, ASSAY_CAPABILITY_VMM); status != ASSAY_OK) return status;
  std::size_t unit = 0;
  if (const assay_status status = granularity(device, false, &unit); status != ASSAY_OK) return status;
  if (bytes == 0 || bytes % unit != 0 || reinterpret_cast<std::uintptr_t>(address) % unit != 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "a size or address of virtual memory is no multiple of the granularity");
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status vmm_granularity(assay_device* handle, std::size_t* minimum, std::size_t* recommended) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || minimum == nullptr || recommended == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_with(*device, ASSAY_CAPABILITY_VMM); status != ASSAY_OK) return status;
  std::size_t least = 0;
  std::size_t best = 0;
  if (const assay_status status = granularity(*device, false, &least); status != ASSAY_OK) return status;
  if (const assay_status status = granularity(*device, true, &best); status != ASSAY_OK) return status;
  *minimum = least;
  *recommended = best;
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status vmm_reserve(assay_device* handle, std::size_t bytes, void** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_vmm(*device, bytes, nullptr); status != ASSAY_OK) return status;
  std::size_t unit = 0;
  if (const assay_status status = granularity(*device, false, &unit); status != ASSAY_OK) return status;
  void* address = nullptr;
  if (const assay_status status = device->check("reserve addresses", Rt::vmm_reserve(&address, bytes, unit));
      status != ASSAY_OK)
    return status;
  if (address == nullptr)
    return refuse<Rt>(ASSAY_UNSUPPORTED, "the runtime reserved no addresses though it reported success");
  const std::lock_guard lock(device->mutex);
  device->reservations.emplace(reinterpret_cast<std::uintptr_t>(address), bytes);
  *out = address;
  return ASSAY_OK;
}

// Whether a mapping begins in [address, address + bytes); under the device's mutex. Mappings never straddle: map()
// takes only whole physical memory inside one reservation.
template <GpuRuntime Rt>
bool has_mapping(const DeviceState<Rt>& device, std::uintptr_t address, std::size_t bytes) {
  auto next = device.mappings.lower_bound(address);
  if (next != device.mappings.end() && next->first < address + bytes) return true;
  if (next == device.mappings.begin()) return false;
  --next;
  return next->first + next->second.bytes > address;
}

template <GpuRuntime Rt>
assay_status vmm_unreserve(assay_device* handle, void* address, std::size_t bytes) {
  auto* device = state<Rt>(handle);
  if (device == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_vmm(*device, bytes, address); status != ASSAY_OK) return status;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  {
    const std::lock_guard lock(device->mutex);
    const auto found = device->reservations.find(start);
    if (found == device->reservations.end() || found->second != bytes)
      return refuse<Rt>(ASSAY_INVALID_VALUE, "unreserve of a range that reserve did not return");
    if (has_mapping(*device, start, bytes))
      return refuse<Rt>(ASSAY_INVALID_VALUE, "unreserve of a range with memory mapped in it; unmap it first");
    device->reservations.erase(found);
  }
  const assay_status status = device->check("give addresses back", Rt::vmm_unreserve(address, bytes));
  if (status != ASSAY_OK) {
    const std::lock_guard lock(device->mutex);
    device->reservations.emplace(start, bytes);
  }
  return status;
}

// One file descriptor per handle on some ROCm versions: running out of those is reported by them as out of memory.
template <GpuRuntime Rt>
assay_status vmm_create(assay_device* handle, std::size_t bytes, std::uint32_t owner, assay_physical** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (owner > ASSAY_OWNER_ALLOCATOR) return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown owner of an allocation");
  if (const assay_status status = enter_vmm(*device, bytes, nullptr); status != ASSAY_OK) return status;
  auto physical = std::make_unique<PhysicalState<Rt>>();
  physical->device = device;
  physical->bytes = bytes;
  physical->owner = owner;
  const assay_status status =
      device->check("create physical memory", Rt::vmm_create(&physical->handle, bytes, device->ordinal));
  if (status == ASSAY_OUT_OF_MEMORY && descriptors_exhausted())
    return refuse<Rt>(
        ASSAY_MAP_LIMIT,
        "creating physical memory failed because this process has no file descriptor left (RLIMIT_NOFILE); "
        "raise it with ulimit -n or use larger chunks");
  if (status != ASSAY_OK) return status;
  *out = adopt<assay_physical>(device->mutex, device->physicals, std::move(physical));
  const std::lock_guard lock(device->mutex);
  device->account(owner, static_cast<std::int64_t>(bytes));
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status vmm_release(assay_device* handle, assay_physical* physical_handle) {
  auto* device = state<Rt>(handle);
  auto* physical = state<Rt>(physical_handle);
  if (device == nullptr || physical == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  {
    const std::lock_guard lock(device->mutex);
    if (physical->mappings > 0)
      return refuse<Rt>(ASSAY_INVALID_VALUE, "release of physical memory that is still mapped; unmap it first");
  }
  if (const assay_status status = device->check("release physical memory", Rt::vmm_release(physical->handle));
      status != ASSAY_OK)
    return status;
  const std::lock_guard lock(device->mutex);
  device->account(physical->owner, -static_cast<std::int64_t>(physical->bytes));
  device->physicals.erase(physical);
  return ASSAY_OK;
}

// The reservation that holds [address, address + bytes); under the device's mutex.
template <GpuRuntime Rt>
bool is_reserved(const DeviceState<Rt>& device, std::uintptr_t address, std::size_t bytes) {
  auto next = device.reservations.upper_bound(address);
  if (next == device.reservations.begin()) return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

template <GpuRuntime Rt>
assay_status vmm_map(assay_device* handle, void* address, std::size_t bytes, assay_physical* physical_handle) {
  auto* device = state<Rt>(handle);
  auto* physical = state<Rt>(physical_handle);
  if (device == nullptr || address == nullptr || physical == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_vmm(*device, bytes, address); status != ASSAY_OK) return status;
  if (bytes != physical->bytes)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "map takes the whole of a physical memory, neither more nor less");
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  // In the book before the runtime is called, so that two threads cannot map one range.
  std::unique_lock lock(device->mutex);
  if (!is_reserved(*device, start, bytes) || has_mapping(*device, start, bytes))
    return refuse<Rt>(ASSAY_INVALID_VALUE, "map needs a reserved range with nothing mapped in it");
  device->mappings.emplace(start, Mapping<Rt>{bytes, physical});
  ++physical->mappings;
  lock.unlock();
  assay_status status = device->check("map physical memory", Rt::vmm_map(address, bytes, physical->handle));
  if (status == ASSAY_OK) {
    status = device->check("grant access to mapped memory", Rt::vmm_set_access(address, bytes, device->ordinal));
    if (status != ASSAY_OK && !is_sticky(status)) {
      const auto words = error_buffer<Rt>();
      static_cast<void>(device->check("unmap memory", Rt::vmm_unmap(address, bytes)));
      error_buffer<Rt>() = words;
    }
  }
  if (status == ASSAY_OK) return status;
  lock.lock();
  device->mappings.erase(start);
  --physical->mappings;
  return status;
}

// The mappings that fill [address, address + bytes) exactly, from end to end; empty when they do not. Under the mutex.
template <GpuRuntime Rt>
std::vector<std::pair<std::uintptr_t, Mapping<Rt>>> mappings_filling(const DeviceState<Rt>& device,
                                                                     std::uintptr_t address, std::size_t bytes) {
  std::vector<std::pair<std::uintptr_t, Mapping<Rt>>> found;
  std::size_t covered = 0;
  while (covered < bytes) {
    const auto next = device.mappings.find(address + covered);
    if (next == device.mappings.end()) return {};
    found.push_back(*next);
    covered += next->second.bytes;
  }
  if (covered != bytes) found.clear();
  return found;
}

// A range may hold several mappings; each is unmapped whole. A range that cuts one, or has a gap, is refused.
template <GpuRuntime Rt>
assay_status vmm_unmap(assay_device* handle, void* address, std::size_t bytes) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || address == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_vmm(*device, bytes, address); status != ASSAY_OK) return status;
  std::vector<std::pair<std::uintptr_t, Mapping<Rt>>> inside;
  {
    const std::lock_guard lock(device->mutex);
    inside = mappings_filling(*device, reinterpret_cast<std::uintptr_t>(address), bytes);
  }
  if (inside.empty()) return refuse<Rt>(ASSAY_INVALID_VALUE, "unmap of a range that whole mappings do not fill");
  for (const auto& [where, mapping] : inside) {
    if (const assay_status status =
            device->check("unmap memory", Rt::vmm_unmap(reinterpret_cast<void*>(where), mapping.bytes));
        status != ASSAY_OK)
      return status;
    const std::lock_guard lock(device->mutex);
    device->mappings.erase(where);
    --mapping.physical->mappings;
  }
  return ASSAY_OK;
}

}  // namespace assay::gpu
