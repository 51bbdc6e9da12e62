// SPDX-License-Identifier: Apache-2.0
// Device and page-locked host memory: allocation with an owner, release, and the readings of the ledger.
#pragma once

#include "backends/gpu/device.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
assay_status memory_allocate(assay_device* handle, std::size_t bytes, std::uint32_t owner, void** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (bytes == 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "an allocation of 0 bytes was asked for; ask for at least one");
  if (owner > ASSAY_OWNER_ALLOCATOR) return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown owner of an allocation");
  if (const assay_status status = device->enter_outside_capture(); status != ASSAY_OK) return status;
  void* pointer = nullptr;
  if (const assay_status status = device->check("allocate device memory", Rt::malloc(&pointer, bytes));
      status != ASSAY_OK)
    return status;
  const std::lock_guard lock(device->mutex);
  device->memory.emplace(pointer, Block{bytes, owner});
  device->account(owner, static_cast<std::int64_t>(bytes));
  *out = pointer;
  return ASSAY_OK;
}

// Both runtimes wait in free for the device's work (HIP: for all its streams), as the table asks.
template <GpuRuntime Rt>
assay_status memory_free(assay_device* handle, void* pointer) {
  auto* device = state<Rt>(handle);
  if (device == nullptr) return missing_argument<Rt>();
  if (pointer == nullptr) return ASSAY_OK;
  if (const assay_status status = device->enter_outside_capture(); status != ASSAY_OK) return status;
  Block block;
  {
    const std::lock_guard lock(device->mutex);
    const auto found = device->memory.find(pointer);
    if (found == device->memory.end())
      return refuse<Rt>(ASSAY_INVALID_VALUE, "free of an address that malloc of this device did not return");
    block = found->second;
    device->memory.erase(found);
  }
  const assay_status status = device->check("free device memory", Rt::free(pointer));
  const std::lock_guard lock(device->mutex);
  if (status == ASSAY_OK)
    device->account(block.owner, -static_cast<std::int64_t>(block.bytes));
  else
    device->memory.emplace(pointer, block);
  return status;
}

template <GpuRuntime Rt>
assay_status host_allocate(assay_device* handle, std::size_t bytes, void** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (bytes == 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "an allocation of 0 bytes was asked for; ask for at least one");
  if (const assay_status status = device->enter_outside_capture(); status != ASSAY_OK) return status;
  void* pointer = nullptr;
  if (const assay_status status = device->check("allocate page-locked memory", Rt::host_malloc(&pointer, bytes));
      status != ASSAY_OK)
    return status;
  const std::lock_guard lock(device->mutex);
  device->host_memory.insert(pointer);
  *out = pointer;
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status host_release(assay_device* handle, void* pointer) {
  auto* device = state<Rt>(handle);
  if (device == nullptr) return missing_argument<Rt>();
  if (pointer == nullptr) return ASSAY_OK;
  if (const assay_status status = device->enter_outside_capture(); status != ASSAY_OK) return status;
  {
    const std::lock_guard lock(device->mutex);
    if (device->host_memory.erase(pointer) == 0)
      return refuse<Rt>(ASSAY_INVALID_VALUE, "host_free of an address that host_malloc of this device did not return");
  }
  const assay_status status = device->check("free page-locked memory", Rt::host_free(pointer));
  if (status != ASSAY_OK) {
    const std::lock_guard lock(device->mutex);
    device->host_memory.insert(pointer);
  }
  return status;
}

// The runtime's reading of the board, or the board's own where the runtime has none (HIP over an older kernel driver).
template <GpuRuntime Rt>
assay_status read_used(DeviceState<Rt>& device, assay_memory_info& info) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const assay_status status = device.check("read the device's memory", Rt::memory_info(&free_bytes, &total_bytes));
  if (status == ASSAY_OK) {
    info.total_bytes = static_cast<std::int64_t>(total_bytes);
    info.used_bytes = static_cast<std::int64_t>(total_bytes) - static_cast<std::int64_t>(free_bytes);
    info.used_source = Rt::memory_info_name;
    return ASSAY_OK;
  }
  if (is_sticky(status)) return status;
  const std::lock_guard lock(device.board_mutex);
  const Reading used = device.board->used_bytes();
  if (!used.value) return status;
  info.total_bytes = static_cast<std::int64_t>(device.properties.totalGlobalMem);
  info.used_bytes = *used.value;
  info.used_source = Rt::board_used_name;
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status memory_info(assay_device* handle, assay_memory_info* out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  assay_memory_info info{};
  if (const assay_status status = read_used(*device, info); status != ASSAY_OK) return status;
  {
    const std::lock_guard lock(device->board_mutex);
    const Reading process = device->board->process_bytes();
    info.walked_bytes = process.value.value_or(-1);
    info.walked_source =
        process.value ? Rt::board_process_name : "the board offers no reading of this process's memory";
  }
  const std::lock_guard lock(device->mutex);
  info.allocator_bytes = device->allocator_bytes;
  info.external_bytes = device->external_bytes;
  info.external_source = "the module's book of allocations with the external owner";
  *out = info;
  return ASSAY_OK;
}

}  // namespace assay::gpu
