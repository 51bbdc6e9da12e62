// SPDX-License-Identifier: Apache-2.0
// The caching policy: allocation, free, and what the caller may ask. The miss path is caching_memory.cpp.
#include "backends/allocator/caching.hpp"

#include <algorithm>
#include <utility>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/statistics_moves.hpp"

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

CachingAllocator::CachingAllocator(DeviceCalls device, const Options& options, std::size_t allowed_bytes,
                                   std::size_t gc_start_bytes)
    : device_(device),
      options_(options),
      allowed_bytes_(allowed_bytes),
      gc_start_bytes_(gc_start_bytes),
      books_(options.tie_break, options.max_split_bytes),
      pending_(device, [this](Block& block) { complete(block); }) {
  small_.small = true;
}

CachingAllocator::~CachingAllocator() {
  (void)pending_.synchronize();
  for (const Segment& segment : books_.segments()) (void)device_.free(reinterpret_cast<void*>(segment.address));
}

Result<void*> CachingAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequestBytes) return absurd_request(bytes);
  const std::lock_guard lock(mutex_);
  if (auto settled = settle(); !settled) return settled.error();
  const std::size_t rounded = round_request(options_, bytes);
  Pool& pool = pool_for(rounded, stream);
  Block* block = pool.free.take_best_fit(options_, stream, rounded);
  if (block == nullptr) {
    auto obtained = obtain({bytes, rounded, segment_bytes(options_, rounded), stream, &pool});
    if (!obtained) return obtained.error();
    block = *obtained;
  }
  books_.hand_out(*block, rounded, bytes, category, should_split(options_, pool.small, block->bytes, rounded));
  return reinterpret_cast<void*>(block->address);
}

Result<void> CachingAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "freed");
  if (block->foreign_streams.empty()) {
    books_.request_free(*block);
    books_.complete_free(*block);
    return {};
  }
  if (underway_.empty()) {
    if (auto deferred = pending_.defer(*block); !deferred) return deferred;
  } else {
    held_back_.push_back(block);  // an event recorded now would become part of the capture
  }
  books_.request_free(*block);
  return {};
}

Result<void> CachingAllocator::record_stream(void* pointer, assay_stream* stream) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "given a stream");
  if (stream == block->segment->stream) return {};
  auto& streams = block->foreign_streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  return {};
}

Result<void> CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  if (!underway_.empty())
    return Error{ErrorCode::usage,
                 "The cache cannot be emptied while a private pool is being filled, because a capture "
                 "forbids returning memory to the device; end the pool first."};
  return release_everything();
}

Result<void> CachingAllocator::process_events() {
  const std::lock_guard lock(mutex_);
  return settle();
}

Result<void> CachingAllocator::settle() {
  if (!underway_.empty()) return {};
  if (!held_back_.empty()) {
    if (auto deferred = defer_held_back(); !deferred) return deferred;
  }
  return pending_.poll();
}

Statistics CachingAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return books_.statistics();
}

Usage CachingAllocator::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_of(books_.statistics());
}

void CachingAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  reset_all_peaks(books_.statistics());
}

void CachingAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  reset_all_accumulated(books_.statistics());
}

std::vector<SegmentInfo> CachingAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  return books_.snapshot();
}

Pool& CachingAllocator::pool_for(std::size_t rounded, assay_stream* stream) {
  const bool small = rounded <= kSmallBytes;
  for (const Underway& underway : underway_)
    if (underway.uses(stream)) return pool_of(underway.id, small);
  return small ? small_ : large_;
}

Pool& CachingAllocator::pool_of(std::uint64_t id, bool small) {
  if (id == 0) return small ? small_ : large_;
  PrivatePool& pool = private_pools_[id];
  pool.small.id = pool.large.id = id;
  pool.small.small = true;
  return small ? pool.small : pool.large;
}

Result<void> CachingAllocator::begin_pool(std::uint64_t id, std::function<bool(assay_stream*)> uses) {
  const std::lock_guard lock(mutex_);
  const auto same = [id](const Underway& underway) { return underway.id == id; };
  if (id == 0 || std::any_of(underway_.begin(), underway_.end(), same))
    return Error{ErrorCode::usage, "Private pool " + std::to_string(id) +
                                       " cannot be begun: 0 is the default pool, and a pool is begun once before it "
                                       "ends; choose another id or end it first."};
  const bool shared = private_pools_.count(id) != 0;
  (void)pool_of(id, true);
  if (shared) ++private_pools_[id].users;
  underway_.push_back({id, std::move(uses)});
  return {};
}

Result<void> CachingAllocator::end_pool(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(underway_.begin(), underway_.end(), [id](const Underway& underway) { return underway.id == id; });
  if (found == underway_.end())
    return Error{ErrorCode::usage, "Private pool " + std::to_string(id) + " cannot be ended: it was not begun."};
  underway_.erase(found);
  return {};
}

Result<void> CachingAllocator::release_pool(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = private_pools_.find(id);
  if (found == private_pools_.end() || found->second.users == 0)
    return Error{ErrorCode::usage, "Private pool " + std::to_string(id) +
                                       " cannot be released: it was not begun or is released already."};
  --found->second.users;
  return {};
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
                                     pool_of(segment.pool_id, segment.small_pool));
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
