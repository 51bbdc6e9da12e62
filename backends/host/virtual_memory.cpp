// SPDX-License-Identifier: Apache-2.0
// Address ranges, physical pieces and their mappings, over mmap and one memory file a device.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "backends/host/memory.hpp"
#include "backends/host/status.hpp"
#include "backends/host/system.hpp"

namespace assay::host {
namespace {

bool whole_granules(std::size_t bytes) {
  return bytes != 0 && bytes % Memory::kGranularity == 0;
}

assay_status not_granular(const char* what, std::size_t bytes) {
  return fail(ASSAY_INVALID_VALUE, "%s: %zu bytes is not a positive multiple of the granularity of %zu; round it up",
              what, bytes, Memory::kGranularity);
}

// Address space that belongs to us and may not be touched.
void* map_inaccessible(void* at, std::size_t bytes, int extra_flags) {
  return ::mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra_flags, -1, 0);
}

}  // namespace

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

assay_status MemoryFile::take(std::size_t bytes, std::size_t* offset) {
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < bytes) continue;
    *offset = hole->first;
    const std::size_t rest = hole->second - bytes;
    holes_.erase(hole);
    if (rest > 0) holes_.emplace(*offset + bytes, rest);
    return ASSAY_OK;
  }
  if (descriptor_ < 0) {
    descriptor_ = ::memfd_create("assay-host-device", MFD_CLOEXEC);
    if (descriptor_ < 0) return explain_refusal(errno, "physical memory", bytes);
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(end_ + bytes)) != 0)
    return explain_refusal(errno, "physical memory", bytes);
  *offset = end_;
  end_ += bytes;
  return ASSAY_OK;
}

void MemoryFile::give_back(std::size_t offset, std::size_t bytes) {
  // Should the system refuse, the pages stay ours and are reused; the budget has them back either way.
  static_cast<void>(::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                static_cast<off_t>(bytes)));
  auto hole = holes_.emplace(offset, bytes).first;
  if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole != holes_.begin()) {
    const auto before = std::prev(hole);
    if (before->first + before->second == hole->first) {
      before->second += hole->second;
      holes_.erase(hole);
    }
  }
}

assay_status Memory::reserve(std::size_t bytes, void** out) {
  if (!whole_granules(bytes)) return not_granular("vmm_reserve", bytes);
  if (bytes > kMostBytes) return explain_refusal(ENOMEM, "an address range", bytes);
  // One granule more, so that an aligned start lies inside; what is left over on both sides goes back.
  const std::size_t asked = bytes + kGranularity;
  void* raw = map_inaccessible(nullptr, asked, 0);
  if (raw == MAP_FAILED) return explain_refusal(errno, "an address range", bytes);
  const auto start = reinterpret_cast<Address>(raw);
  const Address aligned = (start + kGranularity - 1) / kGranularity * kGranularity;
  const std::size_t head = aligned - start;
  if (head > 0) ::munmap(raw, head);
  if (asked - head > bytes) ::munmap(reinterpret_cast<void*>(aligned + bytes), asked - head - bytes);
  try {
    const std::lock_guard lock(mutex_);
    reservations_.emplace(aligned, bytes);
  } catch (...) {
    ::munmap(reinterpret_cast<void*>(aligned), bytes);
    throw;
  }
  *out = reinterpret_cast<void*>(aligned);
  return ASSAY_OK;
}

assay_status Memory::unreserve(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(reinterpret_cast<Address>(address));
  if (found == reservations_.end() || found->second != bytes)
    return fail(ASSAY_INVALID_VALUE,
                "vmm_unreserve: %zu bytes at %p are not one reserved range; give back what was reserved", bytes,
                address);
  if (overlaps_mapping(found->first, bytes))
    return fail(ASSAY_INVALID_VALUE, "vmm_unreserve: the range at %p still holds mappings; unmap them first", address);
  if (::munmap(address, bytes) != 0) return explain_refusal(errno, "giving back an address range", bytes);
  reservations_.erase(found);
  return ASSAY_OK;
}

assay_status Memory::create(std::size_t bytes, std::uint32_t owner, std::shared_ptr<Extent>* out) {
  if (!whole_granules(bytes)) return not_granular("vmm_create", bytes);
  const auto charged = static_cast<std::int64_t>(bytes > kMostBytes ? kMostBytes : bytes);
  auto extent = std::make_shared<Extent>(Extent{0, bytes, owner});
  if (const auto status = ledger_.charge(charged, owner); status != ASSAY_OK) return status;
  const std::lock_guard lock(mutex_);
  if (const auto status = file_.take(bytes, &extent->offset); status != ASSAY_OK) {
    ledger_.refund(charged, owner);
    return status;
  }
  extents_.emplace(extent->offset, bytes);
  *out = std::move(extent);
  return ASSAY_OK;
}

void Memory::drop(std::shared_ptr<Extent> extent) {
  const std::lock_guard lock(mutex_);
  retire(extent);
}

// Under the lock: gives the memory back when `extent` is its last reference.
void Memory::retire(const std::shared_ptr<Extent>& extent) {
  if (!extent || extent.use_count() != 1) return;
  extents_.erase(extent->offset);
  file_.give_back(extent->offset, extent->bytes);
  ledger_.refund(static_cast<std::int64_t>(extent->bytes), extent->owner);
}

bool Memory::inside_reservation(Address address, std::size_t bytes) const {
  const auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return false;
  const auto& [start, size] = *std::prev(next);
  const std::size_t offset = address - start;
  return offset < size && bytes <= size - offset;
}

bool Memory::overlaps_mapping(Address address, std::size_t bytes) const {
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first - address < bytes) return true;
  return next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address;
}

assay_status Memory::map(void* pointer, std::size_t bytes, const std::shared_ptr<Extent>& extent) {
  const auto address = reinterpret_cast<Address>(pointer);
  if (!whole_granules(bytes)) return not_granular("vmm_map", bytes);
  if (address % kGranularity != 0)
    return fail(ASSAY_INVALID_VALUE, "vmm_map: %p is not a multiple of the granularity of %zu; align it", pointer,
                kGranularity);
  if (bytes != extent->bytes)
    return fail(ASSAY_INVALID_VALUE, "vmm_map: %zu bytes asked of physical memory of %zu; map all of it", bytes,
                extent->bytes);
  const std::lock_guard lock(mutex_);
  if (!inside_reservation(address, bytes))
    return fail(ASSAY_INVALID_VALUE,
                "vmm_map: %zu bytes at %p are not inside a range reserved on this device; reserve it first", bytes,
                pointer);
  if (overlaps_mapping(address, bytes))
    return fail(ASSAY_INVALID_VALUE, "vmm_map: %zu bytes at %p overlap a live mapping; unmap it first", bytes, pointer);
  auto entry = mappings_.emplace(address, Mapping{bytes, extent}).first;
  void* mapped = ::mmap(pointer, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_.descriptor(),
                        static_cast<off_t>(extent->offset));
  if (mapped == MAP_FAILED) {
    const int error = errno;
    mappings_.erase(entry);
    return explain_refusal(error, "a mapping", bytes);
  }
  return ASSAY_OK;
}

assay_status Memory::unmap(void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<Address>(pointer);
  if (!whole_granules(bytes)) return not_granular("vmm_unmap", bytes);
  const std::lock_guard lock(mutex_);
  const auto first = mappings_.find(address);
  auto last = first;
  std::size_t found = 0;
  while (last != mappings_.end() && last->first == address + found && found < bytes) {
    found += last->second.bytes;
    ++last;
  }
  if (first == mappings_.end() || found != bytes)
    return fail(ASSAY_INVALID_VALUE,
                "vmm_unmap: %zu bytes at %p are not one or more whole mappings; unmap what was mapped", bytes, pointer);
  if (map_inaccessible(pointer, bytes, MAP_FIXED) == MAP_FAILED) return explain_refusal(errno, "unmapping", bytes);
  for (auto entry = first; entry != last;) {
    std::shared_ptr<Extent> extent = std::move(entry->second.extent);
    entry = mappings_.erase(entry);
    retire(extent);
  }
  return ASSAY_OK;
}

}  // namespace assay::host
