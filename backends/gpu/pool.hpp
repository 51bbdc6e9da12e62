// SPDX-License-Identifier: Apache-2.0
// The runtime's own stream-ordered pool. Its counters mean different things on each vendor: they are passed on as read.
#pragma once

#include <algorithm>

#include "backends/gpu/probe.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
assay_status refuse_while_capturing(DeviceState<Rt>& device) {
  if (device.capturing.load() == 0) return ASSAY_OK;
  return refuse<Rt>(ASSAY_INVALID_VALUE, "a stream of this device captures a graph; end the capture first");
}

template <GpuRuntime Rt>
assay_status pool_create(assay_device* handle, assay_pool** out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  if (const assay_status status = enter_with(*device, ASSAY_CAPABILITY_POOL); status != ASSAY_OK) return status;
  if (const assay_status status = refuse_while_capturing(*device); status != ASSAY_OK) return status;
  auto pool = std::make_unique<PoolState<Rt>>();
  pool->device = device;
  if (const assay_status status = device->check("create a pool", Rt::pool_create(&pool->handle, device->ordinal));
      status != ASSAY_OK)
    return status;
  *out = adopt<assay_pool>(device->mutex, device->pools, std::move(pool));
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status pool_destroy(assay_pool* handle) {
  auto* pool = state<Rt>(handle);
  if (pool == nullptr) return missing_argument<Rt>();
  auto* device = pool->device;
  assay_status status = device->enter();
  if (status == ASSAY_OK) {
    if (const assay_status refused = refuse_while_capturing(*device); refused != ASSAY_OK) return refused;
    status = device->check("destroy a pool", Rt::pool_destroy(pool->handle));
  }
  drop(device->mutex, device->pools, pool);
  return status;
}

template <GpuRuntime Rt>
assay_status pool_malloc(assay_pool* handle, std::size_t bytes, assay_stream* stream_handle, void** out) {
  auto* pool = state<Rt>(handle);
  auto* stream = state<Rt>(stream_handle);
  if (pool == nullptr || stream == nullptr || out == nullptr) return missing_argument<Rt>();
  if (bytes == 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "an allocation of 0 bytes was asked for; ask for at least one");
  if (const assay_status status = pool->device->enter(); status != ASSAY_OK) return status;
  void* pointer = nullptr;
  const assay_status status =
      pool->device->check("allocate from a pool", Rt::pool_malloc(&pointer, bytes, pool->handle, stream->handle));
  if (status == ASSAY_OK) *out = pointer;
  return status;
}

// A null pointer never reaches the runtime: HIP before 7.0 calls it an invalid value.
template <GpuRuntime Rt>
assay_status pool_free(assay_pool* handle, void* pointer, assay_stream* stream_handle) {
  auto* pool = state<Rt>(handle);
  auto* stream = state<Rt>(stream_handle);
  if (pool == nullptr || stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = pool->device->enter(); status != ASSAY_OK) return status;
  if (pointer == nullptr) return ASSAY_OK;
  return pool->device->check("free to a pool", Rt::pool_free(pointer, stream->handle));
}

template <GpuRuntime Rt>
assay_status pool_trim(assay_pool* handle, std::size_t keep_bytes) {
  auto* pool = state<Rt>(handle);
  if (pool == nullptr) return missing_argument<Rt>();
  if (const assay_status status = pool->device->enter_outside_capture(); status != ASSAY_OK) return status;
  return pool->device->check("trim a pool", Rt::pool_trim(pool->handle, keep_bytes));
}

constexpr bool is_reuse_flag(std::int32_t attribute) {
  return attribute >= ASSAY_POOL_REUSE_FOLLOW_EVENT;
}
constexpr bool is_high_water(std::int32_t attribute) {
  return attribute == ASSAY_POOL_RESERVED_HIGH || attribute == ASSAY_POOL_USED_HIGH;
}

// Reuse flags are an int in both runtimes, everything else 64 bits.
template <GpuRuntime Rt>
assay_status read_pool_attribute(PoolState<Rt>& pool, std::int32_t attribute, std::uint64_t* out) {
  std::uint64_t wide = 0;
  int flag = 0;
  void* target = is_reuse_flag(attribute) ? static_cast<void*>(&flag) : static_cast<void*>(&wide);
  const assay_status status =
      pool.device->check("read a pool's attribute", Rt::pool_get(pool.handle, Rt::pool_attribute(attribute), target));
  if (status == ASSAY_OK) *out = is_reuse_flag(attribute) ? static_cast<std::uint64_t>(flag != 0) : wide;
  return status;
}

// A high-water mark is never below what is there now, nor below what was there at its reset: after a reset CUDA's
// stands at the current value, HIP's at 0 until the next allocation.
template <GpuRuntime Rt>
assay_status read_high_water(PoolState<Rt>& pool, std::int32_t attribute, std::uint64_t* out) {
  const bool reserved = attribute == ASSAY_POOL_RESERVED_HIGH;
  std::uint64_t mark = 0;
  std::uint64_t current = 0;
  if (const assay_status status = read_pool_attribute(pool, attribute, &mark); status != ASSAY_OK) return status;
  if (const assay_status status =
          read_pool_attribute(pool, reserved ? ASSAY_POOL_RESERVED_CURRENT : ASSAY_POOL_USED_CURRENT, &current);
      status != ASSAY_OK)
    return status;
  *out = std::max({mark, current, reserved ? pool.reserved_at_reset.load() : pool.used_at_reset.load()});
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status reset_high_water(PoolState<Rt>& pool, std::int32_t attribute) {
  const bool reserved = attribute == ASSAY_POOL_RESERVED_HIGH;
  std::uint64_t current = 0;
  if (const assay_status status =
          read_pool_attribute(pool, reserved ? ASSAY_POOL_RESERVED_CURRENT : ASSAY_POOL_USED_CURRENT, &current);
      status != ASSAY_OK)
    return status;
  std::uint64_t zero = 0;
  if (const assay_status status = pool.device->check("reset a pool's high-water mark",
                                                     Rt::pool_set(pool.handle, Rt::pool_attribute(attribute), &zero));
      status != ASSAY_OK)
    return status;
  (reserved ? pool.reserved_at_reset : pool.used_at_reset).store(current);
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status pool_get(assay_pool* handle, std::int32_t attribute, std::uint64_t* out) {
  auto* pool = state<Rt>(handle);
  if (pool == nullptr || out == nullptr) return missing_argument<Rt>();
  if (attribute < ASSAY_POOL_RELEASE_THRESHOLD || attribute > ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown pool attribute");
  if (const assay_status status = pool->device->enter(); status != ASSAY_OK) return status;
  return is_high_water(attribute) ? read_high_water(*pool, attribute, out) : read_pool_attribute(*pool, attribute, out);
}

// Set, then read back: a runtime that keeps another value has ignored the call, and that is said.
template <GpuRuntime Rt>
assay_status pool_set(assay_pool* handle, std::int32_t attribute, std::uint64_t value) {
  auto* pool = state<Rt>(handle);
  if (pool == nullptr) return missing_argument<Rt>();
  const bool writable = attribute == ASSAY_POOL_RELEASE_THRESHOLD || is_high_water(attribute) ||
                        (is_reuse_flag(attribute) && attribute <= ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES && value <= 1);
  if (!writable) return refuse<Rt>(ASSAY_INVALID_VALUE, "the pool attribute is unknown, read-only or out of range");
  if (is_high_water(attribute) && value != 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "a high-water mark can only be reset to zero");
  if (const assay_status status = pool->device->enter(); status != ASSAY_OK) return status;
  if (is_high_water(attribute)) return reset_high_water(*pool, attribute);
  int flag = static_cast<int>(value != 0);
  std::uint64_t wide = value;
  void* source = is_reuse_flag(attribute) ? static_cast<void*>(&flag) : static_cast<void*>(&wide);
  if (const assay_status status = pool->device->check(
          "set a pool's attribute", Rt::pool_set(pool->handle, Rt::pool_attribute(attribute), source));
      status != ASSAY_OK)
    return status;
  std::uint64_t kept = 0;
  if (const assay_status status = read_pool_attribute(*pool, attribute, &kept); status != ASSAY_OK) return status;
  if (kept != value)
    return refuse<Rt>(ASSAY_UNSUPPORTED, "the runtime accepted a pool attribute and kept another value");
  return ASSAY_OK;
}

}  // namespace assay::gpu
