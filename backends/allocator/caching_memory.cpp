// SPDX-License-Identifier: Apache-2.0
// The caching policy: getting segments from the device and giving them back (facts: allocators section 2.6).
#include "backends/allocator/caching.hpp"

#include <algorithm>
#include <iterator>

namespace assay::allocator {

Result<Block*> CachingAllocator::obtain(const Request& request) {
  const bool may_release = underway_.empty();
  if (options_.collects_garbage() && may_release) {
    if (auto collected = collect_garbage(); !collected) return collected.error();
  }
  auto block = device_segment(request);
  if (!block || *block != nullptr) return block;
  if (may_release) {
    auto released = release_fitting(request);
    if (!released) return released.error();
    if (*released) {
      block = device_segment(request);
      if (!block || *block != nullptr) return block;
    }
    if (auto emptied = release_everything(); !emptied) return emptied.error();
    ++books_.statistics().num_alloc_retries;
    block = device_segment(request);
    if (!block || *block != nullptr) return block;
  }
  ++books_.statistics().num_ooms;
  return out_of_memory(request);
}

Result<Block*> CachingAllocator::device_segment(const Request& request) {
  Block* none = nullptr;
  if (allowed_bytes_ != kUnlimited && books_.reserved_bytes() + request.segment > allowed_bytes_) return none;
  auto pointer = device_.allocate(request.segment);
  if (!pointer) return pointer.error();
  if (*pointer == nullptr) return none;
  ++books_.statistics().num_device_alloc;
  return &books_.open_segment(reinterpret_cast<std::uintptr_t>(*pointer), request.segment, request.stream,
                              *request.pool);
}

// Frees the unsplit blocks of the default large pool that have gone unused for at least the average number of
// searches, and again with the average of those left, until the threshold is reached or nothing more can go.
Result<void> CachingAllocator::collect_garbage() {
  if (books_.reserved_bytes() <= gc_start_bytes_) return {};
  const std::size_t target = books_.reserved_bytes() - gc_start_bytes_;
  auto& blocks = large_.free.blocks();
  std::uint64_t total_age = 0;
  std::uint64_t count = 0;
  for (const Block& block : blocks) {
    if (block.split()) continue;
    total_age += large_.free.age(block);
    ++count;
  }
  std::size_t reclaimed = 0;
  bool freed = true;
  while (reclaimed < target && freed && count > 0) {
    const double average = static_cast<double>(total_age) / static_cast<double>(count);
    freed = false;
    for (auto next = blocks.begin(); next != blocks.end();) {
      Block& block = *next++;
      const std::uint64_t age = large_.free.age(block);
      if (block.split() || static_cast<double>(age) < average) continue;
      const std::size_t bytes = block.bytes;
      if (auto released = release_block(block); !released) return released;
      freed = true;
      reclaimed += bytes;
      total_age -= age;
      --count;
    }
  }
  return {};
}

// One oversize block of the stream that is large enough, or else several from the largest down; whether the bytes
// released could hold the request.
Result<bool> CachingAllocator::release_fitting(const Request& request) {
  if (!options_.splits_limited()) return false;
  auto& blocks = request.pool->free.blocks();
  const std::size_t needed = std::max(request.rounded, options_.max_split_bytes);
  auto found = blocks.lower_bound(FreeList::Key{request.stream, needed, 0, 0}, FreeList::Order{});
  if (found != blocks.end() && found->segment->stream == request.stream) {
    if (auto released = release_block(*found); !released) return released.error();
    return true;
  }
  std::size_t total = 0;
  while (total < needed && found != blocks.begin()) {
    Block& largest = *std::prev(found);
    if (largest.segment->stream != request.stream || largest.bytes < options_.max_split_bytes) break;
    total += largest.bytes;
    if (auto released = release_block(largest); !released) return released.error();
  }
  return total >= needed;
}

Result<void> CachingAllocator::release_everything() {
  ++books_.statistics().num_sync_all_streams;
  if (auto deferred = defer_held_back(); !deferred) return deferred;
  if (auto waited = pending_.synchronize(); !waited) return waited;
  if (auto released = release_unsplit(large_); !released) return released;
  if (auto released = release_unsplit(small_); !released) return released;
  for (auto next = private_pools_.begin(); next != private_pools_.end();) {
    const auto current = next++;
    PrivatePool& pool = current->second;
    if (pool.users > 0) continue;
    if (auto released = release_unsplit(pool.small); !released) return released;
    if (auto released = release_unsplit(pool.large); !released) return released;
    if (pool.small.segments + pool.large.segments == 0) private_pools_.erase(current);
  }
  return {};
}

Result<void> CachingAllocator::release_unsplit(Pool& pool) {
  auto& blocks = pool.free.blocks();
  for (auto next = blocks.begin(); next != blocks.end();) {
    Block& block = *next++;
    if (block.split()) continue;
    if (auto released = release_block(block); !released) return released;
  }
  return {};
}

Result<void> CachingAllocator::release_block(Block& whole) {
  if (auto freed = device_.free(reinterpret_cast<void*>(whole.address)); !freed) return freed;
  ++books_.statistics().num_device_free;
  books_.close_segment(whole);
  return {};
}

Result<void> CachingAllocator::defer_held_back() {
  while (!held_back_.empty()) {
    if (auto deferred = pending_.defer(*held_back_.front()); !deferred) return deferred;
    held_back_.erase(held_back_.begin());
  }
  return {};
}

Error CachingAllocator::out_of_memory(const Request& request) const {
  const Statistics& statistics = books_.statistics();
  const auto info = device_.memory_info();
  std::string text = "Out of memory: a request of " + std::to_string(request.bytes) + " bytes needs a segment of " +
                     std::to_string(request.segment) + " bytes, which ";
  text += allowed_bytes_ == kUnlimited ? "the device refused"
                                       : "the device or the limit of " + std::to_string(allowed_bytes_) +
                                             " bytes set by per_process_memory_fraction refused";
  text += underway_.empty() ? " after all unused segments were returned" : " while a private pool was being filled";
  text += "; allocated " + std::to_string(statistics.allocated_bytes[0].current) + " bytes, reserved " +
          std::to_string(statistics.reserved_bytes[0].current) + " bytes, largest free block " +
          std::to_string(books_.largest_free_bytes()) + " bytes, device free ";
  text += info ? std::to_string(info->total_bytes - info->used_bytes) + " bytes" : "unknown";
  text += "; lower the load, free other memory of the device, or raise its budget where it has one.";
  return {ErrorCode::out_of_memory, std::move(text)};
}

}  // namespace assay::allocator
