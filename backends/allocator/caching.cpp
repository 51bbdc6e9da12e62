// SPDX-License-Identifier: Apache-2.0
// The caching policy: its beginning, its end, and segments taken over from a recording.
#include "backends/allocator/caching.hpp"

#include <mutex>

namespace assay::allocator {

Result<std::unique_ptr<CachingAllocator>> CachingAllocator::create(const assay_backend& table, assay_device* device,
                                                                   const Options& options) {
  const DeviceCalls calls(table, device);
  std::size_t allowed = kUnlimited;
  std::size_t gc_start = kUnlimited;
  if (options.memory_fraction > 0) {
    auto info = calls.memory_info();
    if (!info) return info.error();
    allowed = static_cast<std::size_t>(options.memory_fraction * static_cast<double>(info->total_bytes));
    gc_start = static_cast<std::size_t>(options.garbage_collection_threshold * static_cast<double>(allowed));
  }
  return std::unique_ptr<CachingAllocator>(new CachingAllocator(calls, options, allowed, gc_start));
}

CachingAllocator::~CachingAllocator() {
  (void)pending_.synchronize();
  for (const Segment& segment : books_.segments()) (void)device_.free(reinterpret_cast<void*>(segment.address));
}

Result<void> CachingAllocator::adopt_segment(const SegmentInfo& segment) {
  const std::lock_guard lock(mutex_);
  std::uintptr_t position = segment.address;
  for (const BlockInfo& block : segment.blocks) {
    if (block.address < position || block.bytes == 0 ||
        block.address + block.bytes > segment.address + segment.total_bytes)
      return Error{ErrorCode::usage,
                   "The blocks of an adopted segment overlap or leave it; give them in address order."};
    position = block.address + block.bytes;
  }
  Block* rest = &books_.open_segment(segment.address, segment.total_bytes, segment.stream,
                                     pool_of(segment.id(), segment.small_pool));
  std::vector<Block*> gaps;
  position = segment.address;
  const std::uintptr_t end = segment.address + segment.total_bytes;
  const auto carve = [&](std::size_t bytes, std::size_t requested, Category category) {
    const bool split = bytes < rest->bytes;
    Block& piece = books_.hand_out(*rest, bytes, requested, category, split);
    if (split) {
      rest = piece.next;
      rest->segment->pool->free.erase(*rest);
    }
    return &piece;
  };
  for (const BlockInfo& block : segment.blocks) {
    if (block.state == BlockState::inactive) continue;
    if (block.address > position) gaps.push_back(carve(block.address - position, 0, Category::workspace));
    carve(block.bytes, block.requested_bytes, block.category);
    position = block.address + block.bytes;
  }
  if (end > position) gaps.push_back(carve(end - position, 0, Category::workspace));
  for (Block* gap : gaps) {
    books_.request_free(*gap);
    books_.complete_free(*gap);
  }
  return {};
}

}  // namespace assay::allocator
