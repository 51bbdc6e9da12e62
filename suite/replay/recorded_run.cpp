// SPDX-License-Identifier: Apache-2.0
// A recording against the caching policy on a device that hands out the recorded segments.
#include "suite/replay/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "backends/allocator/caching.hpp"
#include "suite/replay/simulated_device.hpp"

namespace assay::replay {
namespace {

using allocator::BlockState;
using allocator::CachingAllocator;
using allocator::SegmentInfo;
using trace::Action;
using trace::Event;

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
void* pointer_of(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
std::string at(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

class RecordingRun {
 public:
  RecordingRun(const Recording& recording, const allocator::Options& options)
      : recording_(recording), options_(options) {}

  RecordedRun run() {
    auto made = CachingAllocator::create(SimulatedDevice::table(), device_.handle(), options_);
    if (!made) return differ(0, "segment_alloc", "an allocator", made.error().text), std::move(run_);
    caching_ = std::move(*made);
    for (const auto& [start, segment] : recording_.segments) adopt(start, segment);
    for (std::uint64_t i = 0; i < recording_.events.size() && !run_.stop; ++i) i = take(i);
    if (!run_.stop) compare_final_state();
    return std::move(run_);
  }

 private:
  void adopt(std::uint64_t start, const StartSegment& segment) {
    SegmentInfo info;
    info.address = start;
    info.total_bytes = segment.bytes;
    info.stream = stream_of(segment.stream);
    info.small_pool = segment.small_pool;
    info.pool_id = segment.pool_id;
    for (const auto& [address, block] : segment.blocks) {
      info.blocks.push_back({address, block.bytes, block.requested_bytes, BlockState::active_allocated});
      live_[address] = {true, nullptr};
    }
    device_.adopt(start, segment.bytes);
    if (auto adopted = caching_->adopt_segment(info); !adopted && !run_.stop)
      differ(0, "segment_alloc", fmt::format("a segment at {} with its blocks", at(start)), adopted.error().text);
  }

  // The number of the last event that was taken.
  std::uint64_t take(std::uint64_t i) {
    const Event& event = recording_.events[i];
    if (requested_free_ != 0 && !(event.action == Action::free_completed && event.address == requested_free_))
      defer_requested(i);
    switch (event.action) {
      case Action::segment_alloc:
        new_segment_ = &event;
        new_segment_event_ = i;
        break;
      case Action::alloc:
        allocate(event, i);
        break;
      case Action::free_requested:
        requested_free_ = event.address;
        if (const auto held = live_.find(event.address); held == live_.end() || held->second.waits_for != nullptr)
          differ(i, "free_requested", "a live block at " + at(event.address), "no live block there");
        break;
      case Action::free:
      case Action::free_completed:
        complete_free(event, i);
        break;
      case Action::segment_free:
        return release(i);
      default:
        break;
    }
    return i;
  }

  void allocate(const Event& event, std::uint64_t i) {
    if (event.bytes == 0) return;
    const Event* grows = std::exchange(new_segment_, nullptr);
    if (grows != nullptr) device_.hand_out(grows->address);
    const std::uint64_t pool = private_pool_of(event.address);
    if (pool != 0) (void)caching_->begin_pool({pool, 0}, [](assay_stream*) { return true; });
    const auto before = device_.calls().malloc;
    auto pointer = caching_->allocate(static_cast<std::size_t>(event.bytes), stream_of(event.stream),
                                      allocator::Category::workspace);
    if (pool != 0) (void)caching_->end_pool({pool, 0});
    device_.hand_out(0);
    if (!pointer) return differ(i, "alloc", at(event.address), pointer.error().text);
    const bool grew = device_.calls().malloc != before;
    const std::uint64_t address = number(*pointer);
    if (grows != nullptr && grew && device_.last_malloc_bytes() != static_cast<std::size_t>(grows->bytes)) {
      differ(new_segment_event_, "segment_alloc", fmt::format("a segment of {} bytes", grows->bytes),
             fmt::format("a segment of {} bytes", device_.last_malloc_bytes()));
    } else if (grew != (grows != nullptr) || address != event.address) {
      const std::string where = grew ? "a new segment" : at(address);
      differ(i, "alloc", grows != nullptr ? at(event.address) + " in a new segment" : at(event.address), where);
      note_piece(event, grew ? 0 : address);
    } else {
      ++run_.allocations_matched;
      if (grows != nullptr) ++run_.segment_events_matched;
      live_[address] = {false, nullptr};
    }
  }

  void note_piece(const Event& event, std::uint64_t replayed) {
    RecordedStop& stop = *run_.stop;
    stop.recorded_address = event.address;
    stop.replayed_address = replayed;
    stop.rounded_bytes = allocator::round_request(options_, static_cast<std::size_t>(event.bytes));
    for (const auto& [address, held] : live_)
      if (held.from_beginning) stop.live_at_beginning.insert(address);
    for (const SegmentInfo& segment : caching_->snapshot())
      for (std::size_t b = 0; b < segment.blocks.size(); ++b) {
        if (segment.blocks[b].address != replayed) continue;
        stop.piece_bytes = segment.blocks[b].bytes;
        if (b + 1 < segment.blocks.size() && segment.blocks[b + 1].state == BlockState::inactive)
          stop.piece_bytes += segment.blocks[b + 1].bytes;
      }
  }

  void complete_free(const Event& event, std::uint64_t i) {
    const bool requested = std::exchange(requested_free_, 0) != 0 || event.action == Action::free;
    const auto held = live_.find(event.address);
    // Only of blocks of the beginning the request can have been lost.
    const bool asked_for =
        held != live_.end() && (requested || held->second.waits_for != nullptr || held->second.from_beginning);
    if (!asked_for || recording_.unexplained_frees.count(i) != 0) {
      if (event.bytes != 0) differ(i, "free_completed", "a live block at " + at(event.address), "no live block there");
      return;
    }
    Result<void> done;
    if (held->second.waits_for == nullptr) {
      done = caching_->deallocate(pointer_of(event.address));
    } else {
      device_.pass(held->second.waits_for);
      spare_streams_.push_back(held->second.waits_for);
      done = caching_->process_events();
    }
    live_.erase(held);
    if (!done) differ(i, "free_completed", at(event.address), done.error().text);
  }

  void defer_requested(std::uint64_t i) {
    const auto held = live_.find(std::exchange(requested_free_, 0));
    if (held == live_.end() || held->second.waits_for != nullptr) return;
    if (spare_streams_.empty()) spare_streams_.push_back(device_.new_stream());
    held->second.waits_for = spare_streams_.back();
    spare_streams_.pop_back();
    auto done = caching_->record_stream(pointer_of(held->first), held->second.waits_for);
    if (done) done = caching_->deallocate(pointer_of(held->first));
    if (!done) differ(i, "free_requested", at(held->first), done.error().text);
  }

  // Segments freed one behind the other are one flush: of all unused ones, or, where options allow it, of some.
  std::uint64_t release(std::uint64_t i) {
    for (; i < recording_.events.size() && recording_.events[i].action == Action::segment_free; ++i) {
      const Event& event = recording_.events[i];
      if (auto released = caching_->release_segment(event.address); !released)
        return differ(i, "segment_free", "an unused segment at " + at(event.address), "none there"), i;
      ++run_.segment_events_matched;
    }
    if (options_.splits_limited() || options_.garbage_collection_threshold > 0) return i - 1;
    for (const SegmentInfo& segment : caching_->snapshot()) {
      const bool unused = segment.blocks.size() == 1 && segment.blocks.front().state == BlockState::inactive;
      if (unused && segment.pool_id == 0)
        return differ(i - 1, "segment_free", "the end of a flush",
                      fmt::format("another unused segment at {}", at(segment.address))),
               i - 1;
    }
    return i - 1;
  }

  void compare_final_state() {
    std::map<std::uint64_t, const trace::RecordedSegment*> recorded;
    for (const auto& segment : recording_.final_segments) recorded[segment.address] = &segment;
    const std::uint64_t end = recording_.events.size();
    const auto replayed = caching_->snapshot();
    for (const SegmentInfo& segment : replayed) {
      const auto found = recorded.find(segment.address);
      if (found == recorded.end() || found->second->bytes != static_cast<std::int64_t>(segment.total_bytes))
        return differ(end, "final_state", "no such segment",
                      fmt::format("a segment of {} bytes at {}", segment.total_bytes, at(segment.address)));
      std::map<std::uint64_t, std::int64_t> active;
      for (const auto& block : found->second->blocks)
        if (block.state != trace::RecordedState::inactive) active[block.address] = block.bytes;
      for (const auto& block : segment.blocks) {
        if (block.state == BlockState::inactive) continue;
        const auto own = active.find(block.address);
        if (own == active.end() || own->second != static_cast<std::int64_t>(block.bytes))
          return differ(end, "final_state",
                        own == active.end() ? "no block at " + at(block.address)
                                            : fmt::format("a block of {} bytes at {}", own->second, at(own->first)),
                        fmt::format("a block of {} bytes at {}", block.bytes, at(block.address)));
        active.erase(own);
      }
      if (!active.empty())
        return differ(end, "final_state", "a live block at " + at(active.begin()->first), "none there");
    }
    if (replayed.size() != recorded.size())
      differ(end, "final_state", fmt::format("{} segments", recorded.size()),
             fmt::format("{} segments", replayed.size()));
  }

  void differ(std::uint64_t event, std::string action, std::string expected, std::string got) {
    run_.stop = RecordedStop{event, {event, std::move(action), std::move(expected), std::move(got)}, 0, 0, 0, 0, {}};
  }

  std::uint64_t private_pool_of(std::uint64_t address) const {
    const auto after = recording_.private_pools.upper_bound(address);
    if (after == recording_.private_pools.begin()) return 0;
    const auto& [start, pool] = *std::prev(after);
    for (const auto& segment : recording_.final_segments)
      if (segment.address == start) return address < start + static_cast<std::uint64_t>(segment.bytes) ? pool : 0;
    return 0;
  }

  assay_stream* stream_of(std::uint64_t recorded) {
    auto& stream = streams_[recorded];
    if (stream == nullptr) stream = device_.new_stream();
    return stream;
  }

  struct Held {
    bool from_beginning = false;
    assay_stream* waits_for = nullptr;
  };

  const Recording& recording_;
  const allocator::Options& options_;
  SimulatedDevice device_;
  std::unique_ptr<CachingAllocator> caching_;
  std::map<std::uint64_t, assay_stream*> streams_;
  std::map<std::uint64_t, Held> live_;
  std::vector<assay_stream*> spare_streams_;
  std::uint64_t requested_free_ = 0;
  const Event* new_segment_ = nullptr;
  std::uint64_t new_segment_event_ = 0;
  RecordedRun run_;
};

}  // namespace

RecordedRun run_recording(const Recording& recording, const allocator::Options& options) {
  return RecordingRun(recording, options).run();
}

}  // namespace assay::replay
