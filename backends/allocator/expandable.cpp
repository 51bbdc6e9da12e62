// SPDX-License-Identifier: Apache-2.0
// The expandable policy: allocation, free, and what the caller may ask. Mapping is expandable_memory.cpp.
#include "backends/allocator/expandable.hpp"

#include <algorithm>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/mapping_probe.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {

Result<std::unique_ptr<ExpandableAllocator>> ExpandableAllocator::create(const assay_backend& table,
                                                                         assay_device* device, const Options& options) {
  if (options.garbage_collection_threshold > 0)
    return Error{ErrorCode::usage,
                 "Allocator option garbage_collection_threshold has no effect on expandable segments; remove it."};
  const DeviceCalls calls(table, device);
  auto granularity = probe_mapping(calls, "expandable");
  if (!granularity) return granularity.error();
  auto info = calls.memory_info();
  if (!info) return info.error();
  const auto total = static_cast<std::size_t>(info->total_bytes);
  const auto page = [&](std::size_t bytes) {
    const std::size_t least = std::max(bytes, options.least_page_bytes);
    return (least + *granularity - 1) / *granularity * *granularity;
  };
  Sizes sizes{page(kSmallSegmentBytes), page(options.large_segment_bytes), 0, kUnlimited};
  sizes.range = (total + total / 8 + sizes.large_page - 1) / sizes.large_page * sizes.large_page;
  sizes.range = (sizes.range + sizes.small_page - 1) / sizes.small_page * sizes.small_page;
  if (options.memory_fraction > 0)
    sizes.allowed = static_cast<std::size_t>(options.memory_fraction * static_cast<double>(total));
  return std::unique_ptr<ExpandableAllocator>(new ExpandableAllocator(calls, options, sizes));
}

ExpandableAllocator::ExpandableAllocator(DeviceCalls device, const Options& options, const Sizes& sizes)
    : device_(device),
      options_(options),
      small_page_(sizes.small_page),
      large_page_(sizes.large_page),
      range_bytes_(sizes.range),
      allowed_bytes_(sizes.allowed),
      books_(options.tie_break, options.max_split_bytes),
      pending_(device, [this](Block& block) { books_.complete_free(block); }) {
  small_.small = true;
}

ExpandableAllocator::~ExpandableAllocator() {
  (void)pending_.synchronize();
  (void)device_.synchronize_all();
  for (const SegmentInfo& mapped : books_.snapshot()) (void)device_.unmap(mapped.address, mapped.total_bytes);
  for (const Segment& range : books_.segments()) (void)device_.unreserve(range.address, range.bytes);
}

Result<void*> ExpandableAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequestBytes) return absurd_request(bytes);
  const std::lock_guard lock(mutex_);
  if (auto settled = pending_.poll(); !settled) return settled.error();
  const std::size_t rounded = round_request(options_, bytes);
  Pool& pool = rounded <= kSmallBytes ? small_ : large_;
  const Request request{bytes, rounded, stream, &pool};
  Block* block = take_fit(request);
  if (block == nullptr) {
    auto obtained = obtain(request);
    if (!obtained) return obtained.error();
    block = *obtained;
  }
  books_.hand_out(*block, rounded, bytes, category, block->bytes - rounded >= kMinBlockBytes);
  return reinterpret_cast<void*>(block->address);
}

Result<void> ExpandableAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "freed");
  if (block->foreign_streams.empty()) {
    books_.request_free(*block);
    books_.complete_free(*block);
    return {};
  }
  if (auto deferred = pending_.defer(*block); !deferred) return deferred;
  books_.request_free(*block);
  return {};
}

Result<void> ExpandableAllocator::record_stream(void* pointer, assay_stream* stream) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "given a stream");
  if (stream == block->segment->stream) return {};
  auto& streams = block->foreign_streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  return {};
}

Result<void> ExpandableAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  return release_everything();
}

Result<void> ExpandableAllocator::process_events() {
  const std::lock_guard lock(mutex_);
  return pending_.poll();
}

Statistics ExpandableAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return books_.statistics();
}

Usage ExpandableAllocator::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_of(books_.statistics());
}

void ExpandableAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  reset_all_peaks(books_.statistics());
}

void ExpandableAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  reset_all_accumulated(books_.statistics());
}

std::vector<SegmentInfo> ExpandableAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  return books_.snapshot();
}

}  // namespace assay::allocator
