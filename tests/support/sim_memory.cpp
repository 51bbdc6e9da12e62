// SPDX-License-Identifier: Apache-2.0
// The simulated runtime: pools with each vendor's habits, and virtual memory over mmap.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "backends/abi/assay_backend.h"
#include "tests/support/sim_call.hpp"

namespace assay::test {

int sim_current_device();

// Gives whole free blocks back until at most `keep` bytes are reserved.
void SimWorld::release_free(SimPool& pool, std::size_t keep) {
  while (pool.reserved > keep && !pool.free_blocks.empty()) {
    const auto largest = std::prev(pool.free_blocks.end());
    pool.reserved -= largest->first;
    used_[pool.device] -= largest->first;
    std::free(largest->second);
    pool.free_blocks.erase(largest);
  }
}

SimStatus SimWorld::pool_create(SimPool** out, int ordinal) {
  SimCall call(*this, "pool_create");
  if (call.failed()) return call.failure();
  auto pool = std::make_unique<SimPool>();
  pool->device = ordinal;
  *out = pool.get();
  pools_.emplace(pool.get(), std::move(pool));
  return call.done(0);
}

SimStatus SimWorld::pool_destroy(SimPool* pool) {
  SimCall call(*this, "pool_destroy");
  if (call.failed()) return call.failure();
  if (pools_.count(pool) == 0) return call.done(400);
  drain_device(pool->device);
  for (auto& [pointer, bytes] : pool->busy) pool->free_blocks.emplace(bytes, pointer);
  release_free(*pool, 0);
  pools_.erase(pool);
  return call.done(0);
}

// Whole blocks, never split, at most an eighth too large: HIP's way, and a legal one for CUDA.
SimStatus SimWorld::pool_malloc(void** out, std::size_t bytes, SimPool* pool, SimStream* stream) {
  SimCall call(*this, "pool_malloc");
  if (call.failed()) return call.failure();
  if (!valid(stream) || pools_.count(pool) == 0) return call.done(400);
  std::size_t rounded = (bytes + 511) / 512 * 512;
  const auto fit = pool->free_blocks.lower_bound(rounded);
  if (fit != pool->free_blocks.end() && fit->first <= rounded / 8 * 9) {
    rounded = fit->first;
    *out = fit->second;
    pool->free_blocks.erase(fit);
  } else {
    if (!take(rounded, pool->device)) return call.done(2);
    *out = std::aligned_alloc(512, rounded);
    pool->reserved += rounded;
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  }
  pool->busy[*out] = rounded;
  pool->used += rounded;
  pool->used_high = std::max(pool->used_high, pool->used);
  return call.done(0);
}

void SimWorld::finish_pool_free(SimPool& pool, void* pointer) {
  const auto found = pool.busy.find(pointer);
  if (found == pool.busy.end()) return;
  const std::size_t bytes = found->second;
  pool.busy.erase(found);
  pool.used -= bytes;
  pool.free_blocks.emplace(bytes, pointer);
  // HIP: more free than busy, and everything free is released, whatever the threshold says.
  if (vendor == Vendor::amd && pool.reserved - pool.used > pool.used) release_free(pool, pool.used);
}

SimStatus SimWorld::pool_free(void* pointer, SimStream* stream) {
  SimCall call(*this, "pool_free");
  if (call.failed()) return call.failure();
  if (pointer == nullptr) {
    ++violations_;  // the shared source never hands one on
    return call.done(vendor == Vendor::amd ? 1 : 0);
  }
  if (!valid(stream)) return call.done(400);
  for (auto& [raw, pool] : pools_)
    if (pool->busy.count(pointer) != 0)
      return call.done(enqueue(stream, [this, owner = raw, pointer] {
        if (pools_.count(owner) != 0) finish_pool_free(*owner, pointer);
      }));
  return call.done(1);
}

SimStatus SimWorld::pool_trim(SimPool* pool, std::size_t keep) {
  SimCall call(*this, "pool_trim");
  if (call.failed()) return call.failure();
  release_free(*pool, keep);
  return call.done(0);
}

SimStatus SimWorld::pool_get(SimPool* pool, int attribute, void* out) {
  SimCall call(*this, "pool_get");
  if (call.failed()) return call.failure();
  auto* wide = static_cast<std::uint64_t*>(out);
  switch (attribute) {
    case ASSAY_POOL_RELEASE_THRESHOLD:
      *wide = settings.threshold_ignored ? 0 : pool->threshold;
      break;
    case ASSAY_POOL_RESERVED_CURRENT:
      *wide = pool->reserved;
      break;
    case ASSAY_POOL_RESERVED_HIGH:
      *wide = pool->reserved_high;
      break;
    case ASSAY_POOL_USED_CURRENT:
      *wide = pool->used;
      break;
    case ASSAY_POOL_USED_HIGH:
      *wide = pool->used_high;
      break;
    default:
      *static_cast<int*>(out) = pool->reuse[static_cast<std::size_t>(attribute - ASSAY_POOL_REUSE_FOLLOW_EVENT)];
  }
  return call.done(0);
}

SimStatus SimWorld::pool_set(SimPool* pool, int attribute, void* value) {
  SimCall call(*this, "pool_set");
  if (call.failed()) return call.failure();
  const bool amd = vendor == Vendor::amd;
  if (attribute == ASSAY_POOL_RELEASE_THRESHOLD)
    pool->threshold = *static_cast<std::uint64_t*>(value);
  else if (attribute == ASSAY_POOL_RESERVED_HIGH)
    pool->reserved_high = amd ? 0 : pool->reserved;
  else if (attribute == ASSAY_POOL_USED_HIGH)
    pool->used_high = amd ? 0 : pool->used;
  else
    pool->reuse[static_cast<std::size_t>(attribute - ASSAY_POOL_REUSE_FOLLOW_EVENT)] = *static_cast<int*>(value);
  return call.done(0);
}

SimStatus SimWorld::vmm_attribute(int* out) {
  SimCall call(*this, "vmm_attribute");
  if (call.failed()) return call.failure();
  *out = settings.vmm_attribute ? 1 : 0;
  return call.done(0);
}

SimStatus SimWorld::vmm_granularity(std::size_t* out, bool) {
  SimCall call(*this, "vmm_granularity");
  if (call.failed()) return call.failure();
  *out = granularity();
  return call.done(0);
}

SimStatus SimWorld::vmm_reserve(void** out, std::size_t bytes, std::size_t alignment) {
  SimCall call(*this, "vmm_reserve");
  if (call.failed()) return call.failure();
  if (settings.vmm_lost_address) return *out = nullptr, call.done(0);
  if (bytes % granularity() != 0) return call.done(1);
  // Reserved with room to align, and the margins given back.
  auto* raw = static_cast<unsigned char*>(
      ::mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (raw == MAP_FAILED) return call.done(2);
  const std::size_t lead = (alignment - reinterpret_cast<std::uintptr_t>(raw) % alignment) % alignment;
  if (lead > 0) ::munmap(raw, lead);
  if (alignment > lead) ::munmap(raw + lead + bytes, alignment - lead);
  *out = raw + lead;
  reservations_[*out] = bytes;
  return call.done(0);
}

SimStatus SimWorld::vmm_unreserve(void* address, std::size_t bytes) {
  SimCall call(*this, "vmm_unreserve");
  if (call.failed()) return call.failure();
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes) return call.done(1);
  ::munmap(address, bytes);
  reservations_.erase(found);
  return call.done(0);
}

// One file descriptor a handle; running out of them is reported as out of memory.
SimStatus SimWorld::vmm_create(SimPhysical** out, std::size_t bytes, int ordinal) {
  SimCall call(*this, "vmm_create");
  if (call.failed()) return call.failure();
  if (bytes == 0 || bytes % granularity() != 0) return call.done(1);
  if (!take(bytes, ordinal)) return call.done(2);
  auto physical = std::make_unique<SimPhysical>();
  physical->device = ordinal;
  physical->bytes = bytes;
  physical->descriptor = ::memfd_create("assay-sim", MFD_CLOEXEC);
  if (physical->descriptor < 0 || ::ftruncate(physical->descriptor, static_cast<off_t>(bytes)) != 0) {
    used_[ordinal] -= bytes;
    return call.done(2);
  }
  *out = physical.get();
  physicals_.emplace(physical.get(), std::move(physical));
  return call.done(0);
}

SimStatus SimWorld::vmm_release(SimPhysical* physical) {
  SimCall call(*this, "vmm_release");
  if (call.failed()) return call.failure();
  if (physicals_.count(physical) == 0) return call.done(1);
  used_[physical->device] -= physical->bytes;
  ::close(physical->descriptor);
  physicals_.erase(physical);
  return call.done(0);
}

SimStatus SimWorld::vmm_map(void* address, std::size_t bytes, std::size_t offset, SimPhysical* physical) {
  SimCall call(*this, "vmm_map");
  if (call.failed()) return call.failure();
  if (!settings.vmm_works) return call.done(801);
  if (offset != 0 || bytes != physical->bytes || mappings_.count(address) != 0) return call.done(1);
  if (::mmap(address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->descriptor, 0) == MAP_FAILED)
    return call.done(205);
  mappings_[address] = {bytes, physical, false};
  return call.done(0);
}

SimStatus SimWorld::vmm_set_access(void* address, std::size_t bytes) {
  SimCall call(*this, "vmm_set_access");
  if (call.failed()) return call.failure();
  if (mappings_.count(address) == 0 || ::mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0) return call.done(1);
  mappings_[address].accessible = true;
  return call.done(0);
}

// HIP: a command of the device's null stream, and waited for.
SimStatus SimWorld::vmm_unmap(void* address, std::size_t bytes) {
  SimCall call(*this, "vmm_unmap");
  if (call.failed()) return call.failure();
  const auto found = mappings_.find(address);
  if (found == mappings_.end() || found->second.bytes != bytes) return call.done(1);
  drain_device(found->second.physical->device);
  ::mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  mappings_.erase(found);
  return call.done(0);
}

}  // namespace assay::test
