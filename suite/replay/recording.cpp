// SPDX-License-Identifier: Apache-2.0
// Reconstruction of a recording's beginning.
#include "suite/replay/recording.hpp"

#include <algorithm>
#include <iterator>

namespace assay::replay {
namespace {

using allocator::kMinBlockBytes;
using allocator::kSmallBytes;
using trace::Action;
using trace::Event;

struct FreedFirst {
  std::size_t bytes = 0;
  std::uint64_t event = 0;
};

class Reader {
 public:
  Reader(Recording& recording, const allocator::Options& options) : recording_(recording), options_(options) {}

  void run(const trace::Header& header) {
    for (std::uint64_t i = 0; i < recording_.events.size(); ++i) count(recording_.events[i], i);
    name_pools(header);
    add_segments();
    drop_contradictions();
    place_freed();
    for (auto& [start, segment] : recording_.segments) size_blocks(start, segment);
  }

 private:
  void count(const Event& event, std::uint64_t index) {
    switch (event.action) {
      case Action::alloc:
        if (event.bytes > 0) ++recording_.allocations;
        live_.insert(event.address);
        break;
      case Action::free:
      case Action::free_completed:
        if (live_.erase(event.address) == 0)
          freed_first_.try_emplace(event.address, FreedFirst{static_cast<std::size_t>(event.bytes), index});
        break;
      case Action::segment_alloc:
        ++recording_.segment_allocations;
        segments_made_.insert(event.address);
        break;
      case Action::segment_free:
        ++recording_.segment_frees;
        if (segments_made_.count(event.address) == 0) segments_freed_.try_emplace(event.address, &event);
        break;
      case Action::segment_map:
      case Action::segment_unmap:
        recording_.expandable = true;
        break;
      default:
        break;
    }
  }

  void name_pools(const trace::Header& header) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ids;
    for (const auto& segment : header.final_segments) {
      if (segment.device != recording_.device) continue;
      recording_.final_segments.push_back(segment);
      recording_.expandable = recording_.expandable || segment.expandable;
      if (segment.pool_first == 0 && segment.pool_second == 0) continue;
      const auto [id, fresh] = ids.try_emplace({segment.pool_first, segment.pool_second}, ids.size() + 1);
      recording_.private_pools[segment.address] = id->second;
    }
  }

  // Freed ones that the trace did not make, and final ones that it did not make.
  void add_segments() {
    for (const auto& [address, event] : segments_freed_)
      recording_.segments[address] = {static_cast<std::size_t>(event->bytes),
                                      event->stream,
                                      event->bytes == static_cast<std::int64_t>(allocator::kSmallSegmentBytes),
                                      0,
                                      {}};
    for (const auto& segment : recording_.final_segments) {
      if (segments_made_.count(segment.address) != 0) continue;
      StartSegment& own = recording_.segments[segment.address];
      const auto pool = recording_.private_pools.find(segment.address);
      own = {static_cast<std::size_t>(segment.bytes),
             segment.stream,
             segment.small_pool,
             pool == recording_.private_pools.end() ? 0 : pool->second,
             {}};
      for (const auto& block : segment.blocks) {
        if (block.state == trace::RecordedState::inactive || live_.count(block.address) != 0) continue;
        own.blocks[block.address] = {static_cast<std::size_t>(block.requested_bytes),
                                     static_cast<std::size_t>(block.bytes), 0, 0};
      }
    }
  }

  // A block cannot have been live at the beginning where the trace puts another one before its free.
  void drop_contradictions() {
    for (std::uint64_t i = 0; i < recording_.events.size(); ++i) {
      const Event& event = recording_.events[i];
      if (event.action != Action::alloc || freed_first_.empty()) continue;
      const std::uint64_t end = event.address + static_cast<std::uint64_t>(event.bytes);
      auto found = freed_first_.lower_bound(event.address);
      if (found != freed_first_.begin() && std::prev(found)->first + std::prev(found)->second.bytes > event.address)
        --found;
      while (found != freed_first_.end() && found->first < end) {
        const auto current = found++;
        if (current->second.event < i) continue;
        recording_.unexplained_frees.insert(current->second.event);
        freed_first_.erase(current);
      }
    }
  }

  void place_freed() {
    for (const auto& [address, freed] : freed_first_) {
      auto after = recording_.segments.upper_bound(address);
      const bool inside = after != recording_.segments.begin() &&
                          address + freed.bytes <= std::prev(after)->first + std::prev(after)->second.bytes;
      if (!inside) {
        recording_.unexplained_frees.insert(freed.event);
        continue;
      }
      auto& blocks = std::prev(after)->second.blocks;
      const auto next = blocks.lower_bound(address);
      const bool overlaps =
          (next != blocks.end() && next->first < address + std::max<std::size_t>(freed.bytes, 1)) ||
          (next != blocks.begin() &&
           std::prev(next)->first + std::max(std::prev(next)->second.bytes, std::prev(next)->second.requested_bytes) >
               address);
      if (overlaps)
        recording_.unexplained_frees.insert(freed.event);
      else
        blocks[address] = {freed.bytes, 0, 0, 0};
    }
  }

  // In the large pool free pieces are larger than 1 MiB: a smaller gap belongs to the block before it. In front of a
  // larger one the block may have kept as much as leaves such a piece.
  void size_blocks(std::uint64_t start, StartSegment& segment) {
    for (auto block = segment.blocks.begin(); block != segment.blocks.end(); ++block) {
      auto& [address, info] = *block;
      info.rounded_bytes = allocator::round_request(options_, info.requested_bytes);
      if (info.bytes != 0) continue;  // the final snapshot knows it
      const auto next = std::next(block);
      const std::uint64_t limit = next == segment.blocks.end() ? start + segment.bytes : next->first;
      const std::size_t room = limit - address;
      info.bytes = std::min(info.rounded_bytes, room);
      const std::size_t gap = room - info.bytes;
      if (segment.small_pool) continue;
      if (gap <= kSmallBytes || info.rounded_bytes >= options_.max_split_bytes)
        info.bytes = room;
      else if (gap > kSmallBytes + kMinBlockBytes)
        info.most_slack_bytes = std::min(kSmallBytes, gap - kSmallBytes - kMinBlockBytes);
    }
  }

  Recording& recording_;
  const allocator::Options& options_;
  std::set<std::uint64_t> live_;
  std::set<std::uint64_t> segments_made_;
  std::map<std::uint64_t, FreedFirst> freed_first_;
  std::map<std::uint64_t, const Event*> segments_freed_;
};

}  // namespace

Result<Recording> recording_of(const TraceInput& trace, std::int32_t device, const allocator::Options& options) {
  Recording recording;
  recording.device = device;
  auto read = trace.each([&](const EventChunk& chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i)
      if (chunk.events[i].device == device) recording.events.push_back(chunk.events[i]);
    return true;
  });
  if (!read) return read.error();
  Reader(recording, options).run(trace.header());
  return recording;
}

}  // namespace assay::replay
