// SPDX-License-Identifier: Apache-2.0
// Address ranges, physical memory and mappings of the simulated device.
#include "tests/support/fake_mapping.hpp"

#include <sys/mman.h>

#include <iterator>
#include <memory>

namespace assay::testing {
namespace {

using Address = std::uintptr_t;
constexpr std::size_t kGranularity = std::size_t{2} << 20;

FakeDevice& device_of(assay_device* device) {
  return *reinterpret_cast<FakeDevice*>(device);
}
bool whole(std::size_t bytes) {
  return bytes > 0 && bytes % kGranularity == 0;
}

}  // namespace

assay_status FakeMapping::granularity(assay_device* handle, std::size_t* minimum, std::size_t* recommended) {
  const std::lock_guard lock(device_of(handle).mutex_);
  if (!device_of(handle).mapping_offered_)
    return fake_failure(ASSAY_UNSUPPORTED, "the simulated device has no such entry");
  *minimum = *recommended = kGranularity;
  return ASSAY_OK;
}

assay_status FakeMapping::reserve(assay_device* handle, std::size_t bytes, void** out) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::vmm_reserve); status != ASSAY_OK) return status;
  if (!whole(bytes)) return fake_failure(ASSAY_INVALID_VALUE, "not a multiple of the granularity");
  Address address = (device.next_address_ + kGranularity - 1) / kGranularity * kGranularity;
  if (device.memory_ == FakeDevice::Memory::host) {
    void* raw = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return fake_failure(ASSAY_INTERNAL, "no host addresses are left");
    address = reinterpret_cast<Address>(raw);
  } else {
    device.next_address_ = address + bytes;
  }
  device.reservations_.emplace(address, bytes);
  *out = reinterpret_cast<void*>(address);
  return ASSAY_OK;
}

assay_status FakeMapping::unreserve(assay_device* handle, void* pointer, std::size_t bytes) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::vmm_unreserve); status != ASSAY_OK) return status;
  const auto found = device.reservations_.find(reinterpret_cast<Address>(pointer));
  if (found == device.reservations_.end() || found->second != bytes)
    return fake_failure(ASSAY_INVALID_VALUE, "no such range");
  const auto mapped = device.mappings_.lower_bound(found->first);
  if (mapped != device.mappings_.end() && mapped->first < found->first + bytes)
    return fake_failure(ASSAY_INVALID_VALUE, "the range still holds mappings");
  if (device.memory_ == FakeDevice::Memory::host) ::munmap(pointer, bytes);
  device.reservations_.erase(found);
  return ASSAY_OK;
}

assay_status FakeMapping::create(assay_device* handle, std::size_t bytes, std::uint32_t owner, assay_physical** out) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::vmm_create); status != ASSAY_OK) return status;
  if (!whole(bytes) || owner != ASSAY_OWNER_ALLOCATOR) return fake_failure(ASSAY_INVALID_VALUE, "wrong bytes or owner");
  const std::size_t used = device.held_ + device.foreign_;
  if (used > device.capacity_ || bytes > device.capacity_ - used)
    return fake_failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
  auto physical = std::make_unique<FakeDevice::Physical>(FakeDevice::Physical{&device, bytes});
  device.held_ += bytes;
  *out = reinterpret_cast<assay_physical*>(physical.get());
  device.physicals_.emplace(physical.get(), std::move(physical));
  return ASSAY_OK;
}

void FakeMapping::drop_unused(FakeDevice& device, FakeDevice::Physical* physical) {
  if (physical->held || physical->mapped) return;
  device.held_ -= physical->bytes;
  device.physicals_.erase(physical);
}

assay_status FakeMapping::release(assay_device* handle, assay_physical* physical) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  const assay_status status = device.enter(Call::vmm_release);
  reinterpret_cast<FakeDevice::Physical*>(physical)->held =
      false;  // also after a failure: the caller has no second try
  drop_unused(device, reinterpret_cast<FakeDevice::Physical*>(physical));
  return status;
}

assay_status FakeMapping::map(assay_device* handle, void* pointer, std::size_t bytes, assay_physical* physical) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::vmm_map); status != ASSAY_OK) return status;
  const auto address = reinterpret_cast<Address>(pointer);
  const auto range = device.reservations_.upper_bound(address);
  if (reinterpret_cast<FakeDevice::Physical*>(physical)->bytes != bytes ||
      reinterpret_cast<FakeDevice::Physical*>(physical)->mapped || range == device.reservations_.begin() ||
      address % 4096 != 0 || address + bytes > std::prev(range)->first + std::prev(range)->second)
    return fake_failure(ASSAY_INVALID_VALUE, "not all of the memory, or outside every range");
  const auto next = device.mappings_.lower_bound(address);
  if ((next != device.mappings_.end() && next->first < address + bytes) ||
      (next != device.mappings_.begin() && std::prev(next)->first + std::prev(next)->second->bytes > address))
    return fake_failure(ASSAY_INVALID_VALUE, "overlaps a mapping");
  if (device.memory_ == FakeDevice::Memory::host && ::mprotect(pointer, bytes, PROT_READ | PROT_WRITE) != 0)
    return fake_failure(ASSAY_INTERNAL, "host memory is exhausted");
  reinterpret_cast<FakeDevice::Physical*>(physical)->mapped = true;
  device.mappings_.emplace(address, reinterpret_cast<FakeDevice::Physical*>(physical));
  return ASSAY_OK;
}

assay_status FakeMapping::unmap(assay_device* handle, void* pointer, std::size_t bytes) {
  FakeDevice& device = device_of(handle);
  const std::lock_guard lock(device.mutex_);
  if (const assay_status status = device.enter(Call::vmm_unmap); status != ASSAY_OK) return status;
  const auto address = reinterpret_cast<Address>(pointer);
  std::size_t found = 0;
  const auto first = device.mappings_.find(address);
  auto last = first;
  while (last != device.mappings_.end() && last->first == address + found && found < bytes)
    found += (last++)->second->bytes;
  if (first == device.mappings_.end() || found != bytes)
    return fake_failure(ASSAY_INVALID_VALUE, "not one or more whole mappings");
  for (auto mapping = first; mapping != last;) {
    FakeDevice::Physical* physical = mapping->second;
    mapping = device.mappings_.erase(mapping);
    physical->mapped = false;
    drop_unused(device, physical);
  }
  if (device.memory_ == FakeDevice::Memory::host) {
    ::madvise(pointer, bytes, MADV_DONTNEED);
    ::mprotect(pointer, bytes, PROT_NONE);
  }
  return ASSAY_OK;
}

}  // namespace assay::testing
