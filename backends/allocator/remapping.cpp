// SPDX-License-Identifier: Apache-2.0
// The remapping policy: arenas by stream and by address, and what spans all of them.
#include "backends/allocator/remapping.hpp"

#include <algorithm>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/mapping_probe.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {
namespace {

constexpr std::size_t kRangePerMemory = 4;

}  // namespace

Result<std::unique_ptr<RemappingAllocator>> RemappingAllocator::create(const assay_backend& table,
                                                                       assay_device* device) {
  const DeviceCalls calls(table, device);
  auto granularity = probe_mapping(calls, "remapping");
  if (!granularity) return granularity.error();
  auto info = calls.memory_info();
  if (!info) return info.error();
  const std::size_t range = static_cast<std::size_t>(info->total_bytes) * kRangePerMemory;
  const std::size_t whole = (range + *granularity - 1) / *granularity * *granularity;
  return std::unique_ptr<RemappingAllocator>(new RemappingAllocator(calls, *granularity, whole));
}

RemappingAllocator::~RemappingAllocator() {
  for (auto& arena : arenas_) (void)arena->complete_pending();
  (void)device_.synchronize_all();
}

template <class Visit>
void RemappingAllocator::visit_arenas(Visit visit) const {
  const std::size_t count = published_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) visit(*published_[i].arena);
}

RemappingArena* RemappingAllocator::known_arena(assay_stream* stream) const {
  const std::size_t count = published_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    if (published_[i].stream == stream) return published_[i].arena;
  return nullptr;
}

Result<RemappingArena*> RemappingAllocator::arena_of(assay_stream* stream) {
  if (RemappingArena* arena = known_arena(stream)) return arena;
  const std::lock_guard lock(growing_);
  if (RemappingArena* arena = known_arena(stream)) return arena;
  const std::size_t count = published_count_.load(std::memory_order_relaxed);
  if (count == kMostRanges)
    return Error{ErrorCode::map_limit, "Allocator policy remapping has served " + std::to_string(kMostRanges) +
                                           " streams, the most it can; reuse streams or choose caching."};
  auto range = device_.reserve(shared_.range_bytes);
  if (!range) return range.error();
  arenas_.push_back(std::make_unique<RemappingArena>(shared_, stream, *range));
  published_[count] = {arenas_.back().get(), stream, *range};
  published_count_.store(count + 1, std::memory_order_release);
  return arenas_.back().get();
}

RemappingArena* RemappingAllocator::owner_of(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::size_t count = published_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    if (address - published_[i].range < shared_.range_bytes) return published_[i].arena;
  return nullptr;
}

Result<void*> RemappingAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequestBytes) return absurd_request(bytes);
  if (RemappingArena* known = known_arena(stream)) {
    if (void* pointer = known->hit(bytes, category)) return pointer;
  }
  auto arena = arena_of(stream);
  if (!arena) return arena.error();
  auto pointer = (*arena)->allocate(bytes, category, false);
  if (!pointer || *pointer != nullptr) return pointer;
  return allocate_after_flush(**arena, bytes, category);
}

Result<void*> RemappingAllocator::allocate_after_flush(RemappingArena& arena, std::size_t bytes, Category category) {
  auto pointer = arena.allocate(bytes, category, true);
  if (!pointer || *pointer != nullptr) return pointer;
  if (auto released = release_everything(); !released) return released.error();
  arena.count(&Statistics::num_alloc_retries);
  pointer = arena.allocate(bytes, category, true);
  if (!pointer || *pointer != nullptr) return pointer;
  arena.count(&Statistics::num_ooms);
  const Statistics all = statistics();
  std::size_t largest = 0;
  visit_arenas([&](const RemappingArena& each) { largest = std::max(largest, each.largest_free_bytes()); });
  return out_of_memory(bytes, "more than the device grants, after all idle memory was returned", all, largest, device_);
}

Result<void> RemappingAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  RemappingArena* arena = owner_of(pointer);
  if (arena == nullptr) return not_live(pointer, "freed");
  if (arena->give_back(pointer)) return {};
  return arena->deallocate(pointer);
}

Result<void> RemappingAllocator::record_stream(void* pointer, assay_stream* stream) {
  if (pointer == nullptr) return {};
  RemappingArena* arena = owner_of(pointer);
  if (arena == nullptr) return not_live(pointer, "given a stream");
  return arena->record_stream(pointer, stream);
}

Result<void> RemappingAllocator::release_everything() {
  Result<void> result;
  visit_arenas([&](RemappingArena& arena) {
    if (result) result = arena.complete_pending();
  });
  if (!result) return result;
  if (auto waited = device_.synchronize_all(); !waited) return waited;
  visit_arenas([&](RemappingArena& arena) {
    if (result) result = arena.release();
  });
  return result;
}

Result<void> RemappingAllocator::empty_cache() {
  return release_everything();
}

Result<void> RemappingAllocator::process_events() {
  Result<void> result;
  visit_arenas([&](RemappingArena& arena) {
    if (result) result = arena.poll();
  });
  return result;
}

Statistics RemappingAllocator::statistics() const {
  Statistics sum;
  visit_arenas([&](const RemappingArena& arena) {
    Statistics one = arena.statistics();
    add_statistics(sum, one);
  });
  for (Stat* reserved : {&sum.reserved_bytes[0], &sum.reserved_bytes[stat_index(false)]})
    reserved->peak = std::max(reserved->current, shared_.reserved_peak.load());
  return sum;
}

Usage RemappingAllocator::usage() const {
  Usage sum;
  visit_arenas([&](const RemappingArena& arena) {
    const Usage one = arena.usage();
    sum.requested_bytes += one.requested_bytes;
    sum.allocated_bytes += one.allocated_bytes;
    sum.active_bytes += one.active_bytes;
    sum.reserved_bytes += one.reserved_bytes;
  });
  return sum;
}

void RemappingAllocator::reset_peaks() {
  visit_arenas([](RemappingArena& arena) { arena.reset_peaks(); });
  shared_.reserved_peak.store(shared_.reserved.load());
}

void RemappingAllocator::reset_accumulated() {
  visit_arenas([](RemappingArena& arena) { arena.reset_accumulated(); });
}

std::vector<SegmentInfo> RemappingAllocator::snapshot() const {
  std::vector<SegmentInfo> infos;
  visit_arenas([&](const RemappingArena& arena) {
    const auto own = arena.snapshot();
    infos.insert(infos.end(), own.begin(), own.end());
  });
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return infos;
}

}  // namespace assay::allocator
