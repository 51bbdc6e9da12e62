// SPDX-License-Identifier: Apache-2.0
// The caching policy: getting segments from the device and giving them back (facts: allocators section 2.6).
#include <algorithm>
#include <iterator>
#include <mutex>

#include "backends/allocator/caching.hpp"

namespace assay::allocator {

Result<Block*> CachingAllocator::grow(const Request& request) {
  Block* none = nullptr;
  const std::size_t segment = segment_bytes(options_, request.rounded);
  if (forbids(segment)) return none;
  auto pointer = device_.allocate(segment);
  if (!pointer) return pointer.error();
  if (*pointer == nullptr) return none;
  ++books_.statistics().num_device_alloc;
  return &books_.open_segment(reinterpret_cast<std::uintptr_t>(*pointer), segment, request.stream, *request.pool);
}

// Frees the unsplit blocks of the default large pool that have gone unused for at least the average number of
// searches, and again with the average of those left, until the threshold is reached or nothing more can go.
Result<void> CachingAllocator::prepare_growth() {
  if (!options_.collects_garbage() || books_.reserved_bytes() <= gc_start_bytes_) return {};
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

// Whole segments only.
Result<void> CachingAllocator::release(const std::vector<Pool*>& pools) {
  for (Pool* pool : pools) {
    auto& blocks = pool->free.blocks();
    for (auto next = blocks.begin(); next != blocks.end();) {
      Block& block = *next++;
      if (block.split()) continue;
      if (auto released = release_block(block); !released) return released;
    }
  }
  return {};
}

Result<void> CachingAllocator::release_block(Block& whole) {
  if (auto freed = device_.free(reinterpret_cast<void*>(whole.address)); !freed) return freed;
  ++books_.statistics().num_device_free;
  books_.close_segment(whole);
  return {};
}

Result<void> CachingAllocator::release_segment(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  for (Segment& segment : books_.segments()) {
    if (segment.address != address) continue;
    if (segment.first->split() || segment.first->state != BlockState::inactive) break;
    return release_block(*segment.first);
  }
  return Error{ErrorCode::usage, "No unused segment begins at address " + std::to_string(address) +
                                     ", so that none can be released there; name one that holds no live block."};
}

std::string CachingAllocator::refused(const Request& request) const {
  const std::string need =
      "a segment of " + std::to_string(segment_bytes(options_, request.rounded)) + " bytes, which ";
  if (allowed_bytes_ == kUnlimited) return need + "the device refused";
  return need + "the device or the limit of " + std::to_string(allowed_bytes_) +
         " bytes set by per_process_memory_fraction refused";
}

}  // namespace assay::allocator
