// SPDX-License-Identifier: Apache-2.0
// Expandable segments: address ranges whose parts get and lose memory (facts: allocators section 2.7).
#include "backends/allocator/books.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {

Segment& Books::open_range(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool) {
  Segment& segment = new_segment(address, bytes, stream, pool);
  segment.expandable = true;
  segment.first->mapped = false;
  segment.unmapped.emplace(address, segment.first);
  return segment;
}

void Books::close_range(Segment& segment) {
  Block& whole = *segment.first;
  segment.unmapped.clear();
  --segment.pool->segments;
  segments_.erase(segments_.iterator_to(segment));
  spare_segments_.push_back(&segment);
  retire(whole);
}

Block& Books::map(Block& unmapped, std::size_t bytes) {
  Segment& segment = *unmapped.segment;
  segment.unmapped.erase(unmapped.address);
  if (bytes < unmapped.bytes) {
    Block& rest = cut(unmapped, bytes);
    segment.unmapped.emplace(rest.address, &rest);
  }
  unmapped.mapped = true;
  absorb(unmapped, unmapped.previous);
  absorb(unmapped, unmapped.next);
  segment.pool->free.insert(unmapped);
  increase(statistics_.reserved_bytes, segment.pool->small, bytes);
  return unmapped;
}

void Books::unmap(Block& free, std::uintptr_t begin, std::uintptr_t end) {
  Segment& segment = *free.segment;
  FreeList& list = segment.pool->free;
  list.erase(free);
  Block* middle = &free;
  if (begin > free.address) {
    middle = &cut(free, begin - free.address);
    list.insert(free);
  }
  if (end < middle->address + middle->bytes) list.insert(cut(*middle, end - middle->address));
  middle->mapped = false;
  absorb(*middle, middle->previous);
  absorb(*middle, middle->next);
  segment.unmapped.emplace(middle->address, middle);
  decrease(statistics_.reserved_bytes, segment.pool->small, end - begin);
}

}  // namespace assay::allocator
