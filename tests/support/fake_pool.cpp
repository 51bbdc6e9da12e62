// SPDX-License-Identifier: Apache-2.0
// Blocks, waits and counters of the simulated device's pool.
#include "tests/support/fake_pool.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "tests/support/fake_mapping.hpp"

namespace assay::testing {

void FakeDevice::offer_pool(bool offered) {
  const std::lock_guard lock(mutex_);
  pool_offered_ = offered;
}

void FakeDevice::ignore_release_threshold(bool ignored) {
  const std::lock_guard lock(mutex_);
  threshold_ignored_ = ignored;
}

void FakeDevice::zero_a_live_block_at(std::size_t nth_pool_malloc) {
  const std::lock_guard lock(mutex_);
  zeroing_in_ = nth_pool_malloc;
}

bool FakePool::over(const Pool::Waits& waits) {
  return std::all_of(waits.begin(), waits.end(), [](const auto& wait) { return wait.first->finished >= wait.second; });
}

void FakePool::release(Pool& pool, std::uint64_t keep_bytes) {
  for (auto block = pool.free.begin(); block != pool.free.end() && pool.reserved > keep_bytes;) {
    if (!over(block->until)) {
      ++block;
      continue;
    }
    pool.reserved -= block->bytes;
    pool.device->take_back(block->address);
    block = pool.free.erase(block);
  }
}

void FakePool::waited(FakeDevice& device) {
  for (const auto& pool : device.pools_) {
    release(*pool, device.threshold_ignored_ ? pool->used : pool->threshold);
    for (Pool::Free& block : pool->free)
      if (over(block.until)) block.stream = nullptr;
  }
}

assay_status FakePool::create(assay_device* handle, assay_pool** out) {
  FakeDevice& device = *reinterpret_cast<FakeDevice*>(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::pool_create); status != ASSAY_OK) return status;
  if (!device.pool_offered_) return fake_failure(ASSAY_UNSUPPORTED, "the simulated device has no such entry");
  device.pools_.push_back(std::make_shared<Pool>(Pool{&device}));
  *out = reinterpret_cast<assay_pool*>(device.pools_.back().get());
  return ASSAY_OK;
}

assay_status FakePool::destroy(assay_pool* handle) {
  FakeDevice& device = *of(handle).device;
  const std::lock_guard lock(device.mutex_);
  Pool& pool = of(handle);
  for (const auto& [address, bytes] : pool.live) device.take_back(address);
  for (const Pool::Free& block : pool.free) device.take_back(block.address);
  device.pools_.erase(
      std::find_if(device.pools_.begin(), device.pools_.end(), [&](const auto& each) { return each.get() == &pool; }));
  return ASSAY_OK;
}

void FakePool::zero_another(Pool& pool, std::uintptr_t address) {
  FakeDevice& device = *pool.device;
  if (device.memory_ != FakeDevice::Memory::host) return;
  for (const auto& [other, bytes] : pool.live)
    if (other != address) return static_cast<void>(std::memset(reinterpret_cast<void*>(other), 0, bytes));
}

assay_status FakePool::allocate(assay_pool* handle, std::size_t bytes, assay_stream* stream, void** out) {
  Pool& pool = of(handle);
  FakeDevice& device = *pool.device;
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::pool_malloc); status != ASSAY_OK) return status;
  if (bytes == 0) return fake_failure(ASSAY_INVALID_VALUE, "zero bytes");
  const auto usable = [&](const Pool::Free& block) {
    const bool ours = block.stream == nullptr || block.stream == reinterpret_cast<FakeDevice::Stream*>(stream);
    return block.bytes >= bytes && block.bytes - bytes <= bytes / 8 && ours && over(block.until);
  };
  std::uintptr_t address = 0;
  std::size_t whole = bytes;
  if (const auto found = std::find_if(pool.free.begin(), pool.free.end(), usable); found != pool.free.end()) {
    address = found->address;
    whole = found->bytes;
    pool.free.erase(found);
  } else {
    if (const assay_status status = device.lend(bytes, &address); status != ASSAY_OK) return status;
    pool.reserved += bytes;
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  }
  pool.live.emplace(address, whole);
  pool.used += whole;
  pool.used_high = std::max(pool.used_high, pool.used);
  if (device.zeroing_in_ > 0 && --device.zeroing_in_ == 0) zero_another(pool, address);
  *out = reinterpret_cast<void*>(address);
  return ASSAY_OK;
}

assay_status FakePool::free(assay_pool* handle, void* pointer, assay_stream* stream) {
  Pool& pool = of(handle);
  const std::lock_guard lock(pool.device->mutex_);
  if (const assay_status status = pool.device->enter(Call::pool_free); status != ASSAY_OK) return status;
  const auto found = pool.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == pool.live.end()) return fake_failure(ASSAY_INVALID_VALUE, "not live memory of this pool");
  auto* own = reinterpret_cast<FakeDevice::Stream*>(stream);
  pool.free.push_back({found->first, found->second, own->waits.empty() ? own : nullptr, own->waits});
  pool.used -= found->second;
  pool.live.erase(found);
  return ASSAY_OK;
}

assay_status FakePool::trim(assay_pool* handle, std::size_t keep_bytes) {
  Pool& pool = of(handle);
  const std::lock_guard lock(pool.device->mutex_);
  if (const assay_status status = pool.device->enter(Call::pool_trim); status != ASSAY_OK) return status;
  release(pool, keep_bytes);
  return ASSAY_OK;
}

assay_status FakePool::get(assay_pool* handle, std::int32_t attribute, std::uint64_t* out) {
  const Pool& pool = of(handle);
  const std::lock_guard lock(pool.device->mutex_);
  if (const assay_status status = pool.device->enter(Call::pool_attribute); status != ASSAY_OK) return status;
  switch (attribute) {
    case ASSAY_POOL_RELEASE_THRESHOLD:
      *out = pool.threshold;
      return ASSAY_OK;
    case ASSAY_POOL_RESERVED_CURRENT:
      *out = pool.reserved;
      return ASSAY_OK;
    case ASSAY_POOL_RESERVED_HIGH:
      *out = pool.reserved_high;
      return ASSAY_OK;
    case ASSAY_POOL_USED_CURRENT:
      *out = pool.used;
      return ASSAY_OK;
    case ASSAY_POOL_USED_HIGH:
      *out = pool.used_high;
      return ASSAY_OK;
    default:
      return fake_failure(ASSAY_INVALID_VALUE, "no such attribute");
  }
}

assay_status FakePool::set(assay_pool* handle, std::int32_t attribute, std::uint64_t value) {
  Pool& pool = of(handle);
  const std::lock_guard lock(pool.device->mutex_);
  if (const assay_status status = pool.device->enter(Call::pool_attribute); status != ASSAY_OK) return status;
  if (attribute == ASSAY_POOL_RELEASE_THRESHOLD) {
    pool.threshold = value;
  } else if (attribute == ASSAY_POOL_RESERVED_HIGH && value == 0) {
    pool.reserved_high = pool.reserved;
  } else if (attribute == ASSAY_POOL_USED_HIGH && value == 0) {
    pool.used_high = pool.used;
  } else {
    return fake_failure(ASSAY_INVALID_VALUE, "no such attribute, or not this value");
  }
  return ASSAY_OK;
}

}  // namespace assay::testing
