// SPDX-License-Identifier: Apache-2.0
// From an allocator's snapshot to a bounded map.
#include "suite/replay/layout.hpp"

#include <algorithm>

namespace assay::replay {
namespace {

using allocator::BlockState;
using allocator::SegmentInfo;

StreamShare& share_of(std::vector<StreamShare>& streams, std::uint64_t stream) {
  for (StreamShare& share : streams)
    if (share.stream == stream) return share;
  streams.push_back({stream});
  return streams.back();
}

MappedSegment map_segment(const SegmentInfo& info, Layout& layout) {
  MappedSegment segment;
  segment.address = info.address;
  segment.bytes = info.total_bytes;
  segment.small_pool = info.small_pool;
  segment.expandable = info.expandable;
  for (const auto& block : info.blocks) {
    if (segment.runs.empty() || segment.runs.back().state != block.state) segment.runs.push_back({0, 0, block.state});
    segment.runs.back().bytes += block.bytes;
    ++segment.runs.back().blocks;
    if (block.state == BlockState::inactive) {
      segment.largest_free_bytes = std::max(segment.largest_free_bytes, block.bytes);
      ++layout.free_pieces;
      continue;
    }
    segment.active_bytes += block.bytes;
    layout.requested_bytes += block.requested_bytes;
  }
  return segment;
}

// The largest segments stay, then the runs of the largest segments.
void bound(Layout& layout) {
  auto& segments = layout.segments;
  const auto larger = [](const MappedSegment& a, const MappedSegment& b) { return a.bytes > b.bytes; };
  std::stable_sort(segments.begin(), segments.end(), larger);
  if (segments.size() > kMostSegments) {
    layout.segments_left_out = segments.size() - kMostSegments;
    segments.resize(kMostSegments);
  }
  std::size_t runs = 0;
  for (MappedSegment& segment : segments) {
    runs += segment.runs.size();
    if (runs <= kMostRuns) continue;
    runs -= segment.runs.size();
    layout.runs_left_out += segment.runs.size();
    segment.runs.clear();
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
}

}  // namespace

double Layout::external_fragmentation() const {
  if (free_bytes == 0) return 0;
  return 1.0 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
}

Layout layout_of(const PolicyReplay& replay) {
  Layout layout;
  for (const SegmentInfo& info : replay.allocator().snapshot()) {
    MappedSegment segment = map_segment(info, layout);
    segment.stream = replay.recorded_stream(info.stream);
    StreamShare& share = share_of(layout.streams, segment.stream);
    share.reserved_bytes += segment.bytes;
    share.active_bytes += segment.active_bytes;
    share.free_bytes += segment.bytes - segment.active_bytes;
    layout.reserved_bytes += segment.bytes;
    layout.active_bytes += segment.active_bytes;
    layout.largest_free_bytes = std::max(layout.largest_free_bytes, segment.largest_free_bytes);
    layout.segments.push_back(std::move(segment));
  }
  layout.free_bytes = layout.reserved_bytes - layout.active_bytes;
  std::sort(layout.streams.begin(), layout.streams.end(),
            [](const StreamShare& a, const StreamShare& b) { return a.stream < b.stream; });
  bound(layout);
  return layout;
}

}  // namespace assay::replay
