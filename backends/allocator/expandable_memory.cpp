// SPDX-License-Identifier: Apache-2.0
// The expandable policy: mapping of pages, and giving them back (facts: allocators sections 2.6, 2.7).
#include <algorithm>

#include "backends/allocator/expandable.hpp"

namespace assay::allocator {
namespace {

bool is_free(const Block* block) {
  return block != nullptr && block->state == BlockState::inactive;
}

}  // namespace

Result<Block*> ExpandableAllocator::grow(const Request& request) {
  Block* none = nullptr;
  if (forbids(segment_bytes(options_, request.rounded)) || request.rounded > sizes_.range) return none;
  auto room = room_for(request);
  if (!room) return room;
  Block* block = *room;
  while (!block->mapped || block->bytes < request.rounded) {
    // free -> unmapped -> free -> ...: what is mapped joins what is before it.
    Block* unmapped = block->mapped ? block->next : block;
    const std::size_t missing = request.rounded - (block->mapped ? block->bytes : 0);
    auto mapped = map_pages(*unmapped, std::min(missing, unmapped->bytes));
    if (!mapped) return mapped.error();
    if (!*mapped) return none;
    block = unmapped;  // the books keep this one when they join it to its neighbours
  }
  request.pool->free.erase(*block);
  return block;
}

// The lowest unmapped block of the stream's ranges that has room for the request, with the free and unmapped blocks
// around it; or the free block before it. A new range where there is none.
Result<Block*> ExpandableAllocator::room_for(const Request& request) {
  for (Segment& range : books_.segments()) {
    if (range.pool != request.pool || range.stream != request.stream) continue;
    for (const auto& [address, unmapped] : range.unmapped) {
      Block* first = is_free(unmapped->previous) ? unmapped->previous : unmapped;
      std::size_t bytes = 0;
      for (const Block* block = first; is_free(block) && bytes < request.rounded; block = block->next)
        bytes += block->bytes;
      if (bytes >= request.rounded) return first;
    }
  }
  auto address = device_.reserve(sizes_.range);
  if (!address) return address.error();
  return books_.open_range(*address, sizes_.range, request.stream, *request.pool).first;
}

// Maps the pages that hold the first `bytes` of an unmapped block: all of them or none. False: no memory.
Result<bool> ExpandableAllocator::map_pages(Block& unmapped, std::size_t bytes) {
  const std::size_t page = page_bytes(unmapped.segment->pool->small);
  const std::size_t wanted = std::min((bytes + page - 1) / page * page, unmapped.bytes);
  for (std::size_t done = 0; done < wanted; done += page) {
    auto mapped = device_.map(unmapped.address + done, page);
    if (mapped && *mapped) continue;
    if (done > 0) {
      if (auto undone = device_.unmap(unmapped.address, done); !undone) {
        // They cannot be given back: they are booked as what they are, mapped.
        books_.statistics().num_device_alloc += static_cast<std::int64_t>(done / page);
        books_.map(unmapped, done);
      }
    }
    return mapped;
  }
  books_.statistics().num_device_alloc += static_cast<std::int64_t>(wanted / page);
  books_.map(unmapped, wanted);
  return true;
}

Result<void> ExpandableAllocator::release(const std::vector<Pool*>& pools) {
  std::vector<Block*> blocks;
  for (Pool* pool : pools)
    for (Block& block : pool->free.blocks()) blocks.push_back(&block);
  if (!blocks.empty()) {
    if (auto waited = device_.synchronize_all(); !waited) return waited;
  }
  for (Block* block : blocks)
    if (auto unmapped = unmap_pages(*block); !unmapped) return unmapped;
  auto& ranges = books_.segments();
  for (auto next = ranges.begin(); next != ranges.end();) {
    Segment& range = *next++;
    if (range.first->mapped || range.first->next != nullptr) continue;
    if (auto given = device_.unreserve(range.address, range.bytes); !given) return given;
    books_.close_range(range);
  }
  return {};
}

// Whole pages inside the block; what lies before and behind them stays free.
Result<void> ExpandableAllocator::unmap_pages(Block& free) {
  const Segment& range = *free.segment;
  const std::size_t page = page_bytes(range.pool->small);
  const std::uintptr_t begin = range.address + (free.address - range.address + page - 1) / page * page;
  const std::uintptr_t end = range.address + (free.address + free.bytes - range.address) / page * page;
  if (begin >= end) return {};
  std::uintptr_t done = begin;
  Result<void> unmapped;
  while (unmapped && done < end) {
    unmapped = device_.unmap(done, page);
    if (unmapped) done += page;
  }
  if (done > begin) {
    books_.statistics().num_device_free += static_cast<std::int64_t>((done - begin) / page);
    books_.unmap(free, begin, done);
  }
  return unmapped;
}

std::string ExpandableAllocator::refused(const Request& request) const {
  std::string text = "pages of " + std::to_string(page_bytes(request.pool->small)) + " bytes more than the device";
  if (allowed_bytes_ != kUnlimited)
    text += " or the limit of " + std::to_string(allowed_bytes_) + " bytes set by per_process_memory_fraction";
  return text + " grants";
}

}  // namespace assay::allocator
