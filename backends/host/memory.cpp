// SPDX-License-Identifier: Apache-2.0
// Blocks with an address, and the readings of a device's memory.
#include "backends/host/memory.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "backends/host/status.hpp"
#include "backends/host/system.hpp"

namespace assay::host {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// Larger requests would overflow when rounded; no machine has them.

}  // namespace

Memory::~Memory() {
  for (const auto& [address, block] : blocks_) ::munmap(reinterpret_cast<void*>(address), block.bytes);
  for (const auto& [address, bytes] : host_blocks_) ::munmap(reinterpret_cast<void*>(address), bytes);
  for (const auto& [address, bytes] : reservations_) ::munmap(reinterpret_cast<void*>(address), bytes);
}

void Memory::read(assay_memory_info& out) const {
  const std::lock_guard lock(mutex_);
  ledger_.read(out);
  std::int64_t walked = 0;
  for (const auto& [address, block] : blocks_) walked += static_cast<std::int64_t>(block.bytes);
  for (const auto& [offset, bytes] : extents_) walked += static_cast<std::int64_t>(bytes);
  out.walked_bytes = walked;
  out.used_source = "counter of the host module's budget";
  out.walked_source = "walk over live blocks and physical pieces";
  out.external_source = "counter of memory obtained outside the allocator";
}

bool Memory::covers(const void* pointer, std::size_t bytes) const {
  const auto begin = reinterpret_cast<Address>(pointer);
  if (bytes > kMostBytes) return false;
  const std::lock_guard lock(mutex_);
  if (auto next = blocks_.upper_bound(begin); next != blocks_.begin()) {
    const auto& [start, block] = *std::prev(next);
    if (begin - start < block.bytes) return bytes <= block.bytes - (begin - start);
  }
  // Mappings that touch each other are one stretch of memory.
  auto next = mappings_.upper_bound(begin);
  if (next == mappings_.begin()) return false;
  auto mapping = std::prev(next);
  Address reached = begin;
  while (mapping != mappings_.end() && mapping->first <= reached && reached < mapping->first + mapping->second.bytes) {
    reached = mapping->first + mapping->second.bytes;
    if (reached - begin >= bytes) return true;
    ++mapping;
  }
  return false;
}

bool Memory::touches(const void* address) const {
  return covers(address, 1);
}

assay_status Memory::allocate(std::size_t bytes, std::uint32_t owner, void** out, Kind kind) {
  const std::size_t whole = bytes > kMostBytes ? kMostBytes : whole_pages(bytes);
  const auto charged = static_cast<std::int64_t>(whole);
  if (const auto status = ledger_.charge(charged, owner); status != ASSAY_OK) return status;
  void* memory = map_anonymous(whole);
  if (memory == nullptr) {
    const int error = errno;
    ledger_.refund(charged, owner);
    return explain_refusal(error, "an allocation", whole);
  }
  try {
    const std::lock_guard lock(mutex_);
    blocks_.emplace(reinterpret_cast<Address>(memory), Block{whole, owner, kind});
  } catch (...) {
    ::munmap(memory, whole);
    ledger_.refund(charged, owner);
    throw;
  }
  *out = memory;
  return ASSAY_OK;
}

bool Memory::is_block(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  return blocks_.count(reinterpret_cast<Address>(pointer)) != 0;
}

assay_status Memory::release(void* pointer, Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<Address>(pointer));
  if (found == blocks_.end() || found->second.kind != kind)
    return fail(ASSAY_INVALID_VALUE, "free: %p is not the start of a live allocation of this device; free each once",
                pointer);
  const Block block = found->second;
  if (::munmap(pointer, block.bytes) != 0) return explain_refusal(errno, "freeing an allocation", block.bytes);
  blocks_.erase(found);
  ledger_.refund(static_cast<std::int64_t>(block.bytes), block.owner);
  return ASSAY_OK;
}

assay_status Memory::allocate_host(std::size_t bytes, void** out) {
  if (bytes > kMostBytes)
    return fail(ASSAY_OUT_OF_MEMORY, "host memory of %zu bytes is more than any machine has; ask for less", bytes);
  const std::size_t whole = whole_pages(bytes);
  void* memory = map_anonymous(whole);
  if (memory == nullptr) return explain_refusal(errno, "host memory", whole);
  try {
    const std::lock_guard lock(mutex_);
    host_blocks_.emplace(reinterpret_cast<Address>(memory), whole);
  } catch (...) {
    ::munmap(memory, whole);
    throw;
  }
  *out = memory;
  return ASSAY_OK;
}

assay_status Memory::release_host(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = host_blocks_.find(reinterpret_cast<Address>(pointer));
  if (found == host_blocks_.end())
    return fail(ASSAY_INVALID_VALUE, "host_free: %p did not come from host_malloc of this device; free each once",
                pointer);
  if (::munmap(pointer, found->second) != 0) return explain_refusal(errno, "freeing host memory", found->second);
  host_blocks_.erase(found);
  return ASSAY_OK;
}

}  // namespace assay::host
