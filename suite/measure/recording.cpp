// SPDX-License-Identifier: Apache-2.0
// Calls become events; what the allocator did by itself is seen by comparing its segments before and after.
#include "suite/measure/recording.hpp"

#include <chrono>
#include <utility>

#include "backends/allocator/options.hpp"
#include "suite/trace/snapshot_writer.hpp"

namespace assay::measure {
namespace {

using trace::Action;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

trace::RecordedState state_of(allocator::BlockState state) {
  switch (state) {
    case allocator::BlockState::active_allocated:
      return trace::RecordedState::active;
    case allocator::BlockState::active_pending_free:
      return trace::RecordedState::pending_free;
    case allocator::BlockState::inactive:
      break;
  }
  return trace::RecordedState::inactive;
}

trace::SnapshotSettings settings_of(const allocator::Allocator& allocator) {
  trace::SnapshotSettings settings;
  settings.conf = allocator.options();
  settings.expandable_segments = allocator.policy() == "expandable" || allocator.policy() == "remapping";
  const auto options = allocator::parse_options(settings.conf);
  if (!options) return settings;
  if (options->splits_limited()) settings.max_split_size_bytes = static_cast<std::int64_t>(options->max_split_bytes);
  settings.garbage_collection_threshold = options->garbage_collection_threshold;
  for (const std::size_t divisions : options->roundup_power2_divisions)
    settings.roundup_power2_divisions.push_back(static_cast<std::int64_t>(divisions));
  return settings;
}

}  // namespace

RecordingAllocator::RecordingAllocator(std::unique_ptr<allocator::Allocator> inner, RecordingParts parts)
    : inner_(std::move(inner)), parts_(std::move(parts)) {
  streams_.emplace(nullptr, 0);
}

RecordingAllocator::~RecordingAllocator() {
  for (const auto& [address, block] : pending_) tell(Action::free_completed, address, block, true, true);
  (void)flush();
}

std::uint64_t RecordingAllocator::number_of(const assay_stream* stream) {
  return streams_.try_emplace(stream, streams_.size()).first->second;
}

void RecordingAllocator::tell(Action action, std::uint64_t address, const Live& block, bool for_trace,
                              bool for_history) {
  const trace::Event event{action, 0, block.stream, address, block.bytes, now_us(), block.category};
  if (for_trace && parts_.writer != nullptr) {
    auto written = parts_.writer->write(event);
    if (!written && trouble_) trouble_ = written;
  }
  if (!for_history || parts_.history == 0) return;
  if (history_.size() == parts_.history) history_.pop_front();
  history_.push_back(event);
}

void RecordingAllocator::tell_segment(Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream) {
  tell(action, address, Live{bytes, stream, -1, false}, false, true);
}

Result<void*> RecordingAllocator::allocate(std::size_t bytes, assay_stream* stream, allocator::Category category) {
  if (bytes == 0) return inner_->allocate(bytes, stream, category);
  const std::lock_guard lock(mutex_);
  auto pointer = inner_->allocate(bytes, stream, category);
  settle();
  const Live block{static_cast<std::int64_t>(bytes), number_of(stream), static_cast<std::int8_t>(category), false};
  if (pointer) {
    tell(Action::alloc, address_of(*pointer), block, true, true);
    live_[address_of(*pointer)] = block;
  } else if (pointer.error().code == ErrorCode::out_of_memory) {
    const std::int64_t room = parts_.device_free ? parts_.device_free() : -1;
    tell(Action::out_of_memory, static_cast<std::uint64_t>(room < 0 ? 0 : room), block, true, true);
  }
  return pointer;
}

Result<void> RecordingAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  auto freed = inner_->deallocate(pointer);
  const auto found = live_.find(address_of(pointer));
  if (!freed || found == live_.end()) return freed;
  const Live block = found->second;
  live_.erase(found);
  tell(block.used_elsewhere ? Action::free_requested : Action::free, address_of(pointer), block, true, false);
  tell(Action::free_requested, address_of(pointer), block, false, true);
  if (block.used_elsewhere)
    pending_.emplace(address_of(pointer), block);
  else
    tell(Action::free_completed, address_of(pointer), block, false, true);
  settle();
  return freed;
}

Result<void> RecordingAllocator::record_stream(void* pointer, assay_stream* stream) {
  const std::lock_guard lock(mutex_);
  auto recorded = inner_->record_stream(pointer, stream);
  const auto found = live_.find(address_of(pointer));
  if (!recorded || found == live_.end()) return recorded;
  Live use = found->second;
  use.stream = number_of(stream);
  if (use.stream == found->second.stream) return recorded;
  found->second.used_elsewhere = true;
  tell(Action::record_stream, address_of(pointer), use, true, false);
  return recorded;
}

Result<void> RecordingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  auto emptied = inner_->empty_cache();
  settle();
  if (emptied) tell(Action::empty_cache, 0, Live{}, true, false);
  return emptied;
}

Result<void> RecordingAllocator::process_events() {
  const std::lock_guard lock(mutex_);
  auto processed = inner_->process_events();
  settle();
  return processed;
}

// What the call just passed on did besides: pending frees first, which may have let segments go.
void RecordingAllocator::settle() {
  if (!pending_.empty()) look_at_pending();
  if (parts_.history == 0) return;
  const auto statistics = inner_->statistics();
  const std::int64_t calls = statistics.num_device_alloc + statistics.num_device_free;
  if (std::exchange(device_calls_, calls) != calls) look_at_segments();
}

void RecordingAllocator::look_at_pending() {
  std::unordered_set<std::uint64_t> still;
  for (const auto& segment : inner_->snapshot())
    for (const auto& block : segment.blocks)
      if (block.state == allocator::BlockState::active_pending_free) still.insert(block.address);
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    if (still.count(entry->first) != 0) {
      ++entry;
      continue;
    }
    tell(Action::free_completed, entry->first, entry->second, true, true);
    entry = pending_.erase(entry);
  }
}

// Segments of the device's own size are compared whole; mapped ranges by what of them came and went.
void RecordingAllocator::look_at_segments() {
  std::map<std::uint64_t, Range> now;
  for (const auto& segment : inner_->snapshot())
    now.emplace(segment.address,
                Range{static_cast<std::int64_t>(segment.total_bytes), number_of(segment.stream), segment.expandable});
  const auto uncovered = [](const std::map<std::uint64_t, Range>& of, const std::map<std::uint64_t, Range>& by,
                            auto&& visit) {
    for (const auto& [address, range] : of) {
      std::uint64_t at = address;
      const std::uint64_t end = address + static_cast<std::uint64_t>(range.bytes);
      auto cover = by.upper_bound(at);
      if (cover != by.begin()) --cover;
      for (; at < end && cover != by.end() && cover->first < end; ++cover) {
        const std::uint64_t cover_end = cover->first + static_cast<std::uint64_t>(cover->second.bytes);
        if (cover_end <= at || !cover->second.expandable) continue;
        if (cover->first > at) visit(at, cover->first, range);
        at = cover_end;
      }
      if (at < end) visit(at, end, range);
    }
  };
  const auto split = [](const std::map<std::uint64_t, Range>& all, bool expandable) {
    std::map<std::uint64_t, Range> out;
    for (const auto& entry : all)
      if (entry.second.expandable == expandable) out.insert(entry);
    return out;
  };
  const auto size = [](std::uint64_t begin, std::uint64_t end) { return static_cast<std::int64_t>(end - begin); };
  uncovered(split(ranges_, true), now, [&](std::uint64_t begin, std::uint64_t end, const Range& range) {
    tell_segment(Action::segment_unmap, begin, size(begin, end), range.stream);
  });
  for (const auto& [address, range] : split(ranges_, false)) {
    const auto same = now.find(address);
    if (same == now.end() || !(same->second == range))
      tell_segment(Action::segment_free, address, range.bytes, range.stream);
  }
  for (const auto& [address, range] : split(now, false)) {
    const auto same = ranges_.find(address);
    if (same == ranges_.end() || !(same->second == range))
      tell_segment(Action::segment_alloc, address, range.bytes, range.stream);
  }
  uncovered(split(now, true), ranges_, [&](std::uint64_t begin, std::uint64_t end, const Range& range) {
    tell_segment(Action::segment_map, begin, size(begin, end), range.stream);
  });
  ranges_ = std::move(now);
}

Result<void> RecordingAllocator::flush() {
  const std::lock_guard lock(mutex_);
  if (parts_.writer != nullptr) {
    auto flushed = parts_.writer->flush();
    if (!flushed && trouble_) trouble_ = flushed;
  }
  return trouble_;
}

std::string RecordingAllocator::snapshot_text() {
  const std::lock_guard lock(mutex_);
  settle();
  trace::SnapshotParts parts;
  for (const auto& segment : inner_->snapshot()) {
    trace::RecordedSegment out;
    out.stream = number_of(segment.stream);
    out.address = segment.address;
    out.bytes = static_cast<std::int64_t>(segment.total_bytes);
    out.small_pool = segment.small_pool;
    out.expandable = segment.expandable;
    out.pool_first = segment.pool_id;
    out.pool_second = segment.pool_id_second;
    for (const auto& block : segment.blocks)
      out.blocks.push_back({block.address, static_cast<std::int64_t>(block.bytes),
                            static_cast<std::int64_t>(block.requested_bytes), state_of(block.state)});
    parts.segments.push_back(std::move(out));
  }
  parts.events = history_;
  parts.settings = settings_of(*inner_);
  return trace::snapshot_text(parts);
}

}  // namespace assay::measure
