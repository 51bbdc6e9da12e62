// SPDX-License-Identifier: Apache-2.0
// Reading a trace, and finding out what was live before it.
#include "suite/replay/trace_input.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "suite/replay/address_map.hpp"

namespace assay::replay {
namespace {

using Place = std::pair<std::int32_t, std::uint64_t>;  // device and address

// Live at the beginning: what is freed before the trace has allocated it, and what the final segments show as active
// although the trace has not allocated it. Memory in proportion to the live blocks.
class Finder {
 public:
  void take(const trace::Event& event) {
    if (event.address == 0) return;
    auto& live = live_on(event.device);
    if (event.action == trace::Action::alloc) live[event.address] = true;
    if (event.action != trace::Action::free && event.action != trace::Action::free_completed) return;
    if (live.find(event.address) != nullptr) {
      live.erase(event.address);
    } else {
      found_.try_emplace({event.device, event.address},
                         InitialBlock{event.device, event.stream, event.address, event.bytes});
    }
  }

  Beginning finish(const trace::Header& header) {
    for (const auto& segment : header.final_segments)
      for (const auto& block : segment.blocks) {
        if (block.state == trace::RecordedState::inactive) continue;
        if (live_on(segment.device).find(block.address) != nullptr) continue;
        found_.try_emplace({segment.device, block.address},
                           InitialBlock{segment.device, segment.stream, block.address, block.requested_bytes});
      }
    Beginning beginning;
    beginning.reconstructed = true;
    for (const auto& [place, block] : found_) beginning.blocks.push_back(block);
    return beginning;
  }

 private:
  AddressMap<bool>& live_on(std::int32_t device) {
    const auto index = static_cast<std::size_t>(device);
    while (live_.size() <= index) live_.emplace_back();
    return live_[index];
  }

  std::vector<AddressMap<bool>> live_;
  std::map<Place, InitialBlock> found_;
};

constexpr std::int32_t kMostDevices = 1024;

}  // namespace

std::int64_t Beginning::requested_bytes() const {
  std::int64_t sum = 0;
  for (const InitialBlock& block : blocks) sum += block.requested_bytes;
  return sum;
}

Result<std::unique_ptr<TraceInput>> TraceInput::open(const std::string& path, const trace::PagedKvOptions& requests) {
  std::unique_ptr<TraceInput> input(new TraceInput(path, requests));
  if (auto read = input->read_first(); !read) return read.error();
  return input;
}

Result<void> TraceInput::read_first() {
  auto opened = trace::open(path_, requests_);
  if (!opened) return opened.error();
  const auto source = trace::checked(std::move(*opened), path_);
  const bool starts_empty = source->header().starts_empty;
  Finder finder;
  trace::Event event;
  for (;;) {
    const auto more = source->next(event);
    if (!more) return more.error();
    if (!*more) break;
    if (event.device < 0 || event.device >= kMostDevices)
      return Error{ErrorCode::bad_input, path_ + ": event " + std::to_string(events_) + " names device " +
                                             std::to_string(event.device) + ", and at most 1024 are replayed"};
    ++events_;
    if (event.action == trace::Action::alloc) ++allocations_;
    devices_ = std::max(devices_, event.device + 1);
    if (!starts_empty) finder.take(event);
    if (!whole_) continue;
    kept_.push_back(event);
    if (kept_.size() > kMostKept) {
      whole_ = false;
      kept_ = {};
    }
  }
  header_ = source->header();
  if (!starts_empty) beginning_ = finder.finish(header_);
  return {};
}

Result<void> TraceInput::each(const std::function<bool(const EventChunk&)>& visit) const {
  if (!whole_) return read_again(visit);
  for (std::size_t at = 0; at < kept_.size(); at += kChunk)
    if (!visit({kept_.data() + at, std::min(kChunk, kept_.size() - at), at})) break;
  return {};
}

Result<void> TraceInput::read_again(const std::function<bool(const EventChunk&)>& visit) const {
  auto source = trace::open(path_, requests_);
  if (!source) return source.error();
  std::vector<trace::Event> chunk(kChunk);
  std::uint64_t first = 0;
  for (bool ended = false; !ended;) {
    std::size_t count = 0;
    while (count < kChunk) {
      const auto more = (*source)->next(chunk[count]);
      if (!more) return more.error();
      if (!*more) {
        ended = true;
        break;
      }
      ++count;
    }
    if (count > 0 && !visit({chunk.data(), count, first})) break;
    first += count;
  }
  if (first > events_)
    return Error{ErrorCode::bad_input, path_ + ": the trace grew while it was read; replay it when it is complete"};
  return {};
}

}  // namespace assay::replay
