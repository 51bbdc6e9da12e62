// SPDX-License-Identifier: Apache-2.0
// Reading PyTorch memory snapshots.
#include "tests/support/pytorch_trace.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace assay::testing {
namespace {

using nlohmann::json;

std::vector<TraceEvent> read_events(const json& recorded) {
  std::vector<TraceEvent> events;
  std::size_t index = 0;
  for (const json& entry : recorded) {
    const std::string action = entry.at("action");
    TraceEvent event;
    event.index = index++;
    if (action == "alloc") {
      event.action = TraceEvent::Action::alloc;
    } else if (action == "free_completed") {
      event.action = TraceEvent::Action::free_completed;
    } else if (action == "segment_alloc") {
      event.action = TraceEvent::Action::segment_alloc;
    } else if (action == "segment_free") {
      event.action = TraceEvent::Action::segment_free;
    } else {
      continue;
    }
    event.address = entry.at("addr");
    event.bytes = entry.at("size");
    event.stream = entry.at("stream");
    events.push_back(event);
  }
  return events;
}

// The segment that holds `address`, or null.
TraceSegment* holder(Trace& trace, std::uintptr_t address) {
  auto after = trace.segments.upper_bound(address);
  if (after == trace.segments.begin()) return nullptr;
  auto& [start, segment] = *std::prev(after);
  return address < start + segment.bytes ? &segment : nullptr;
}

void guess_sizes(std::uintptr_t start, TraceSegment& segment) {
  for (auto block = segment.blocks.begin(); block != segment.blocks.end(); ++block) {
    auto& [address, info] = *block;
    if (info.size_known) continue;
    info.bytes = allocator::round_request({}, info.requested_bytes);
    const auto next = std::next(block);
    const std::uintptr_t limit = next == segment.blocks.end() ? start + segment.bytes : next->first;
    if (address + info.bytes > limit) throw std::runtime_error("blocks of the snapshot overlap");
    info.gap = limit - address - info.bytes;
    if (!segment.small && info.gap <= allocator::kSmallBytes) info.bytes += info.gap;
  }
}

}  // namespace

Trace read_pytorch_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  const json document = json::parse(file);
  const json& recorded = document.at("device_traces").at(0);
  Trace trace;
  trace.events = read_events(recorded);
  trace.recorded_events = recorded.size();

  std::set<std::uintptr_t> segment_allocated;
  std::set<std::uintptr_t> allocated;  // at the point reached, by the recording
  std::map<std::uintptr_t, std::size_t> freed_first;
  std::map<std::uintptr_t, const TraceEvent*> freed_segments;
  for (const TraceEvent& event : trace.events) {
    switch (event.action) {
      case TraceEvent::Action::alloc:
        ++trace.allocations;
        allocated.insert(event.address);
        break;
      case TraceEvent::Action::free_completed:
        if (allocated.erase(event.address) == 0) freed_first.emplace(event.address, event.bytes);
        break;
      case TraceEvent::Action::segment_alloc:
        segment_allocated.insert(event.address);
        break;
      case TraceEvent::Action::segment_free:
        if (segment_allocated.count(event.address) == 0) freed_segments.emplace(event.address, &event);
        break;
    }
  }
  for (const auto& [address, event] : freed_segments)
    trace.segments[address] = {event->bytes, event->stream, event->bytes == allocator::kSmallSegmentBytes, {}};
  for (const json& segment : document.at("segments")) {
    const std::uintptr_t start = segment.at("address");
    if (segment_allocated.count(start) != 0) continue;
    TraceSegment& own = trace.segments[start];
    own = {segment.at("total_size"), segment.at("stream"), segment.at("segment_type") == "small", {}};
    for (const json& block : segment.at("blocks")) {
      const std::uintptr_t address = block.at("address");
      if (block.at("state") == "inactive" || allocated.count(address) != 0) continue;
      own.blocks[address] = {block.at("requested_size"), block.at("size"), true, 0};
    }
  }
  for (const auto& [address, bytes] : freed_first) {
    TraceSegment* segment = holder(trace, address);
    if (segment == nullptr) throw std::runtime_error("a block outside every segment is freed");
    segment->blocks[address] = {bytes, 0, false, 0};
  }
  for (auto& [start, segment] : trace.segments) guess_sizes(start, segment);
  return trace;
}

}  // namespace assay::testing
