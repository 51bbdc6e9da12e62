// SPDX-License-Identifier: Apache-2.0
// Segments, blocks and the statistics that follow each of their moves.
#include "backends/allocator/books.hpp"

#include <algorithm>

#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {
namespace {

constexpr std::size_t kFirstBuckets = 1024;

// A signed amount, so that a free that swallows pieces and leaves one counts the difference only.
void change(StatArray& stat, bool small_pool, std::int64_t amount) {
  if (amount > 0) increase(stat, small_pool, static_cast<std::size_t>(amount));
  if (amount < 0) decrease(stat, small_pool, static_cast<std::size_t>(-amount));
}

}  // namespace

Books::Books(TieBreak tie_break, std::size_t oversize_bytes, bool one_pool)
    : tie_break_(tie_break),
      oversize_bytes_(oversize_bytes),
      one_pool_(one_pool),
      buckets_(kFirstBuckets),
      live_(Live::bucket_traits(buckets_.data(), buckets_.size())) {
  statistics_.max_split_size = oversize_bytes == kUnlimited ? -1 : static_cast<std::int64_t>(oversize_bytes);
}

Books::~Books() {
  live_.clear();
  segments_.clear();
}

Block& Books::new_block() {
  if (spare_blocks_.empty()) return block_store_.emplace_back();
  Block& block = *spare_blocks_.back();
  spare_blocks_.pop_back();
  return block;
}

void Books::retire(Block& block) {
  block.foreign_streams.clear();
  block.previous = block.next = nullptr;
  spare_blocks_.push_back(&block);
}

void Books::insert_live(Block& block) {
  if (live_.size() >= buckets_.size()) {
    std::vector<Live::bucket_type> larger(buckets_.size() * 2);
    live_.rehash(Live::bucket_traits(larger.data(), larger.size()));
    buckets_.swap(larger);
  }
  live_.insert(block);
}

Block* Books::find_live(const void* pointer) {
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(pointer));
  return found == live_.end() ? nullptr : &*found;
}

Segment& Books::new_segment(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool) {
  Segment* segment = nullptr;
  if (spare_segments_.empty()) {
    segment = &segment_store_.emplace_back();
  } else {
    segment = spare_segments_.back();
    spare_segments_.pop_back();
  }
  Block& block = new_block();
  segment->address = address;
  segment->bytes = bytes;
  segment->stream = stream;
  segment->pool = &pool;
  segment->first = &block;
  segment->expandable = false;
  segments_.push_back(*segment);
  block.address = address;
  block.bytes = bytes;
  block.requested_bytes = 0;
  block.segment = segment;
  block.stream = stream;
  block.state = BlockState::inactive;
  block.mapped = true;
  block.rank = tie_break_ == TieBreak::creation ? segments_opened_ : 0;
  ++segments_opened_;
  ++pool.segments;
  return *segment;
}

Block& Books::open_segment(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool) {
  const Segment& segment = new_segment(address, bytes, stream, pool);
  increase(statistics_.segment, pool.small, 1);
  increase(statistics_.reserved_bytes, pool.small, bytes);
  if (bytes >= oversize_bytes_) statistics_.oversize_segments.increase(1);
  return *segment.first;
}

void Books::close_segment(Block& whole) {
  Segment& segment = *whole.segment;
  Pool& pool = *segment.pool;
  pool.free.erase(whole);
  --pool.segments;
  decrease(statistics_.segment, pool.small, 1);
  decrease(statistics_.reserved_bytes, pool.small, segment.bytes);
  if (segment.bytes >= oversize_bytes_) statistics_.oversize_segments.decrease(1);
  segments_.erase(segments_.iterator_to(segment));
  spare_segments_.push_back(&segment);
  retire(whole);
}

// The rest of `block` behind its first `bytes`, in no list.
Block& Books::cut(Block& block, std::size_t bytes) {
  Block& rest = new_block();
  rest.address = block.address + bytes;
  rest.bytes = block.bytes - bytes;
  rest.requested_bytes = block.requested_bytes;
  rest.segment = block.segment;
  rest.stream = block.stream;
  rest.rank = block.rank;
  rest.state = BlockState::inactive;
  rest.mapped = block.mapped;
  rest.previous = &block;
  rest.next = block.next;
  if (rest.next != nullptr) rest.next->previous = &rest;
  block.next = &rest;
  block.bytes = bytes;
  return rest;
}

Block& Books::hand_out(Block& block, std::size_t rounded, std::size_t requested, Category category, bool split,
                       bool from_the_end) {
  statistics_.num_splits += split ? 1 : 0;
  if (split && from_the_end) {
    Block& given = cut(block, block.bytes - rounded);
    block.segment->pool->free.insert(block);
    return make_live(given, requested, category);
  }
  Pool& pool = *block.segment->pool;
  const bool was_split = block.split();
  const bool counted = !block.segment->expandable;
  if (split) {
    Block& rest = cut(block, rounded);
    pool.free.insert(rest);
    if (counted && was_split) {  // a free piece has shrunk
      decrease(statistics_.inactive_split_bytes, pool.small, rounded);
    } else if (counted) {  // a whole segment has become a live and a free piece
      increase(statistics_.inactive_split_bytes, pool.small, rest.bytes);
      increase(statistics_.inactive_split, pool.small, 1);
    }
  } else if (counted && was_split) {
    decrease(statistics_.inactive_split_bytes, pool.small, block.bytes);
    decrease(statistics_.inactive_split, pool.small, 1);
  }
  return make_live(block, requested, category);
}

Block& Books::make_live(Block& block, std::size_t requested, Category category) {
  const Pool& pool = *block.segment->pool;
  block.state = BlockState::active_allocated;
  block.requested_bytes = requested;
  block.category = category;
  insert_live(block);

  if (one_pool_) {
    count_allocation_once(statistics_, block.bytes, requested, category);
    return block;
  }
  count_allocation(statistics_, pool.small, block.bytes, requested, category);
  if (block.bytes >= oversize_bytes_) statistics_.oversize_allocations.increase(1);
  return block;
}

void Books::request_free(Block& block) {
  const Pool& pool = *block.segment->pool;
  live_.erase(live_.iterator_to(block));
  block.state = BlockState::active_pending_free;
  if (one_pool_) return count_free_request_once(statistics_, block.bytes, block.category);
  count_free_request(statistics_, pool.small, block.bytes, block.category);
  if (block.bytes >= oversize_bytes_) statistics_.oversize_allocations.decrease(1);
}

std::size_t Books::join(Block& block, Block* neighbour) {
  const std::size_t gained = neighbour->bytes;
  if (neighbour->mapped) {
    block.segment->pool->free.erase(*neighbour);
  } else {
    block.segment->unmapped.erase(neighbour->address);
  }
  if (neighbour == block.previous) {
    block.address = neighbour->address;
    block.previous = neighbour->previous;
    if (block.previous != nullptr) block.previous->next = &block;
    if (block.segment->first == neighbour) block.segment->first = &block;
  } else {
    block.next = neighbour->next;
    if (block.next != nullptr) block.next->previous = &block;
  }
  block.bytes += gained;
  retire(*neighbour);
  return gained;
}

void Books::complete_free(Block& block) {
  Pool& pool = *block.segment->pool;
  const std::size_t own_bytes = block.bytes;
  if (one_pool_) {
    absorb(block, block.previous);
    absorb(block, block.next);
    block.state = BlockState::inactive;
    if (!block.foreign_streams.empty()) block.foreign_streams.clear();
    pool.free.insert(block);
    return count_free_completion_once(statistics_, own_bytes, block.requested_bytes, block.category);
  }
  std::int64_t pieces = 0;
  std::int64_t piece_bytes = 0;
  for (Block* neighbour : {block.previous, block.next}) {
    const std::size_t gained = absorb(block, neighbour);
    if (gained == 0) continue;
    pieces -= 1;
    piece_bytes -= static_cast<std::int64_t>(gained);
  }
  block.state = BlockState::inactive;
  block.foreign_streams.clear();
  pool.free.insert(block);
  if (block.split()) {
    pieces += 1;
    piece_bytes += static_cast<std::int64_t>(block.bytes);
  }
  if (!block.segment->expandable) {
    change(statistics_.inactive_split, pool.small, pieces);
    change(statistics_.inactive_split_bytes, pool.small, piece_bytes);
  }
  count_free_completion(statistics_, pool.small, own_bytes, block.requested_bytes, block.category);
}

std::size_t Books::largest_free_bytes() const {
  std::size_t largest = 0;
  for (const Segment& segment : segments_)
    for (const Block* block = segment.first; block != nullptr; block = block->next)
      if (block->state == BlockState::inactive && block->mapped) largest = std::max(largest, block->bytes);
  return largest;
}

std::vector<SegmentInfo> Books::snapshot() const {
  std::vector<SegmentInfo> infos;
  infos.reserve(segments_.size());
  for (const Segment& segment : segments_) {
    SegmentInfo info;
    info.stream = segment.stream;
    info.small_pool = segment.pool->small;
    info.expandable = segment.expandable;
    info.pool_id = segment.pool->id.first;
    info.pool_id_second = segment.pool->id.second;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (!block->mapped) continue;
      if (info.blocks.empty()) info.address = block->address;
      info.blocks.push_back({block->address, block->bytes, block->requested_bytes, block->state, block->category});
      info.total_bytes += block->bytes;
      if (block->next != nullptr && block->next->mapped) continue;
      infos.push_back(info);  // the end of a mapped range
      info.blocks.clear();
      info.total_bytes = 0;
    }
  }
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return infos;
}

}  // namespace assay::allocator
