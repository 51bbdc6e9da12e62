// SPDX-License-Identifier: Apache-2.0
// The expandable policy: its beginning, its end and its search (facts: allocators section 2.4).
#include "backends/allocator/expandable.hpp"

#include <algorithm>
#include <iterator>

#include "backends/allocator/mapping_probe.hpp"

namespace assay::allocator {

Result<void> ExpandableAllocator::check(const Options& options) {
  if (options.garbage_collection_threshold == 0) return {};
  return Error{ErrorCode::usage,
               "Allocator option garbage_collection_threshold has no effect on expandable segments; remove it."};
}

Result<std::unique_ptr<ExpandableAllocator>> ExpandableAllocator::create(const assay_backend& table,
                                                                         assay_device* device, const Options& options) {
  if (auto checked = check(options); !checked) return checked.error();
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

ExpandableAllocator::~ExpandableAllocator() {
  (void)pending_.synchronize();
  (void)device_.synchronize_all();
  for (const SegmentInfo& mapped : books_.snapshot()) (void)device_.unmap(mapped.address, mapped.total_bytes);
  for (const Segment& range : books_.segments()) (void)device_.unreserve(range.address, range.bytes);
}

Block* ExpandableAllocator::take_fit(const Request& request) {
  auto& blocks = request.pool->free.blocks();
  auto found = blocks.lower_bound(FreeList::Key{request.stream, request.rounded, 0, 0}, FreeList::Order{});
  if (found == blocks.end() || found->segment->stream != request.stream) return nullptr;
  for (auto next = std::next(found); next != blocks.end() && next->segment->stream == request.stream &&
                                     next->expandable_bytes() < found->expandable_bytes();
       ++next)
    found = next;
  if (options_.splits_limited()) {
    const bool oversize = request.rounded >= options_.max_split_bytes;
    if (!oversize && found->bytes >= options_.max_split_bytes) return nullptr;
    if (oversize && found->bytes - request.rounded >= options_.max_non_split_rounding_bytes) return nullptr;
  }
  Block& block = *found;
  blocks.erase(found);
  return &block;
}

}  // namespace assay::allocator
