// SPDX-License-Identifier: Apache-2.0
// The steps of an allocation and a free that `caching` and `expandable` share. Private pools are splitting_pools.cpp.
#include "backends/allocator/splitting.hpp"

#include <mutex>
#include <utility>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {

SplittingAllocator::SplittingAllocator(DeviceCalls device, const Options& options, std::size_t allowed_bytes)
    : device_(device),
      options_(options),
      allowed_bytes_(allowed_bytes),
      books_(options.tie_break, options.max_split_bytes),
      pending_(device, [this](Block& block) { books_.complete_free(block); }) {
  small_.small = true;
}

Result<void*> SplittingAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequestBytes) return absurd_request(bytes);
  const std::lock_guard lock(mutex_);
  if (auto settled = settle(); !settled) return settled.error();
  const std::size_t rounded = round_request(options_, bytes);
  const Request request{bytes, rounded, stream, &pool_for(rounded, stream)};
  Block* block = take_fit(request);
  if (block == nullptr) {
    auto obtained = obtain(request);
    if (!obtained) return obtained.error();
    block = *obtained;
  }
  books_.hand_out(*block, rounded, bytes, category, splits(request, *block));
  return reinterpret_cast<void*>(block->address);
}

Result<Block*> SplittingAllocator::obtain(const Request& request) {
  const bool may_release = underway_.empty();
  if (may_release) {
    if (auto prepared = prepare_growth(); !prepared) return prepared.error();
  }
  auto block = grow(request);
  if (!block || *block != nullptr) return block;
  if (may_release) {
    auto released = release_fitting(request);
    if (!released) return released.error();
    if (*released) {
      block = grow(request);
      if (!block || *block != nullptr) return block;
    }
    if (auto emptied = release_everything(); !emptied) return emptied.error();
    ++books_.statistics().num_alloc_retries;
    block = grow(request);
    if (!block || *block != nullptr) return block;
  }
  ++books_.statistics().num_ooms;
  std::string need = refused(request);
  need += may_release ? " after all unused memory was returned" : " while a private pool was being filled";
  return out_of_memory(request.bytes, need, books_.statistics(), books_.largest_free_bytes(), device_);
}

Result<void> SplittingAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "freed");
  if (underway_.empty() || block->foreign_streams.empty()) return pending_.free(books_, *block);
  held_back_.push_back(block);  // an event recorded now would become part of the capture
  books_.request_free(*block);
  return {};
}

Result<void> SplittingAllocator::record_stream(void* pointer, assay_stream* stream) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "given a stream");
  block->used_by(stream);
  return {};
}

Result<void> SplittingAllocator::settle() {
  if (!underway_.empty()) return {};
  if (!held_back_.empty()) {
    if (auto deferred = defer_held_back(); !deferred) return deferred;
  }
  return pending_.poll();
}

Result<void> SplittingAllocator::defer_held_back() {
  while (!held_back_.empty()) {
    if (auto deferred = pending_.defer(*held_back_.front()); !deferred) return deferred;
    held_back_.erase(held_back_.begin());
  }
  return {};
}

Result<void> SplittingAllocator::release_everything() {
  ++books_.statistics().num_sync_all_streams;
  if (auto deferred = defer_held_back(); !deferred) return deferred;
  if (auto waited = pending_.synchronize(); !waited) return waited;
  std::vector<Pool*> pools{&large_, &small_};
  for (auto& [id, pool] : private_pools_)
    if (pool.users == 0) pools.insert(pools.end(), {&pool.small, &pool.large});
  if (auto released = release(pools); !released) return released;
  for (auto next = private_pools_.begin(); next != private_pools_.end();) {
    const auto current = next++;
    const PrivatePool& pool = current->second;
    if (pool.users == 0 && pool.small.segments + pool.large.segments == 0) private_pools_.erase(current);
  }
  return {};
}

Result<void> SplittingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  if (!underway_.empty())
    return Error{ErrorCode::usage,
                 "The cache cannot be emptied while a private pool is being filled, because a capture "
                 "forbids returning memory to the device; end the pool first."};
  return release_everything();
}

Result<void> SplittingAllocator::process_events() {
  const std::lock_guard lock(mutex_);
  return settle();
}

Statistics SplittingAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return books_.statistics();
}

Usage SplittingAllocator::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_of(books_.statistics());
}

void SplittingAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  reset_all_peaks(books_.statistics());
}

void SplittingAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  reset_all_accumulated(books_.statistics());
}

std::vector<SegmentInfo> SplittingAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  return books_.snapshot();
}

}  // namespace assay::allocator
