// SPDX-License-Identifier: Apache-2.0
// The caching policy against PyTorch itself: every address and segment size of recorded memory snapshots comes out
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/support/allocator_rig.hpp"
#include "tests/support/pytorch_trace.hpp"

namespace {

using assay::testing::expect_consistent;
using assay::testing::read_pytorch_trace;
using assay::testing::Rig;
using assay::testing::Trace;
using assay::testing::TraceEvent;
using assay::testing::TraceSegment;

std::filesystem::path trace_folder() {
  if (const char* data = std::getenv("ASSAY_SHARED_DATA")) return std::filesystem::path(data) / "traces" / "pytorch";
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  return std::filesystem::path(source != nullptr ? source : ".") / ".." / "shared" / "data" / "traces" / "pytorch";
}

struct Outcome {
  std::size_t matched = 0;                // allocations whose address came out
  std::size_t segments = 0;               // segment_alloc events whose size came out
  std::optional<std::size_t> divergence;  // index of the first event that did not
  std::uintptr_t recorded = 0;            // the addresses there
  std::uintptr_t returned = 0;
};

class Replay {
 public:
  Replay(const Trace& trace, const char* options) : trace_(trace), rig_(options, std::size_t{1} << 50) {
    for (const auto& [start, segment] : trace.segments) adopt(start, segment);
    expect_consistent(*rig_.caching);
  }

  Outcome run() {
    for (std::size_t i = 0; i < trace_.events.size() && !outcome_.divergence; ++i) {
      const TraceEvent& event = trace_.events[i];
      if (event.action == TraceEvent::Action::segment_alloc) rig_.device.hand_out(event.address);
      if (event.action == TraceEvent::Action::alloc) allocate(i);
      if (event.action == TraceEvent::Action::free_completed) rig_.give(event.address);
      if (event.action == TraceEvent::Action::segment_free) i = release(i);
    }
    if (!outcome_.divergence) expect_consistent(*rig_.caching);
    return outcome_;
  }

 private:
  assay_stream* stream(std::int64_t id) {
    auto& own = streams_[id];
    if (own == nullptr) own = rig_.device.new_stream();
    return own;
  }

  void adopt(std::uintptr_t start, const TraceSegment& segment) {
    assay::allocator::SegmentInfo info;
    info.address = start;
    info.total_bytes = segment.bytes;
    info.stream = stream(segment.stream);
    info.small_pool = segment.small;
    for (const auto& [address, block] : segment.blocks)
      info.blocks.push_back(
          {address, block.bytes, block.requested_bytes, assay::allocator::BlockState::active_allocated});
    rig_.device.adopt(start, segment.bytes);
    const auto adopted = rig_.caching->adopt_segment(info);
    EXPECT_TRUE(adopted) << adopted.error().text;
  }

  void allocate(std::size_t i) {
    const TraceEvent& event = trace_.events[i];
    const bool grows = i > 0 && trace_.events[i - 1].action == TraceEvent::Action::segment_alloc;
    const std::size_t before = rig_.device_allocs();
    const std::uintptr_t address = rig_.take_on(stream(event.stream), event.bytes);
    const bool grew = rig_.device_allocs() != before;
    const bool same_size = !grows || (grew && rig_.device.malloc_sizes().back() == trace_.events[i - 1].bytes);
    if (address != event.address || grew != grows || !same_size) {
      outcome_.divergence = event.index;
      outcome_.recorded = event.address;
      outcome_.returned = address;
      return;
    }
    ++outcome_.matched;
    if (grows) ++outcome_.segments;
  }

  // A run of segment_free events is one flush; the same segments must go, in any order.
  std::size_t release(std::size_t i) {
    std::set<std::uintptr_t> recorded;
    const std::size_t index = trace_.events[i].index;
    while (i < trace_.events.size() && trace_.events[i].action == TraceEvent::Action::segment_free)
      recorded.insert(trace_.events[i++].address);
    const std::size_t before = rig_.device.freed_addresses().size();
    EXPECT_TRUE(rig_.caching->empty_cache());
    const auto freed = rig_.device.freed_addresses();
    if (std::set<std::uintptr_t>(freed.begin() + static_cast<std::ptrdiff_t>(before), freed.end()) != recorded)
      outcome_.divergence = index;
    return i - 1;
  }

  const Trace& trace_;
  Rig rig_;
  std::map<std::int64_t, assay_stream*> streams_;
  Outcome outcome_;
};

Outcome replay(const Trace& trace, const char* options = "") {
  return Replay(trace, options).run();
}

std::vector<std::filesystem::path> traces() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(trace_folder(), error))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

#define ASSAY_TRACES_OR_SKIP(paths) \
  const auto paths = traces();      \
  if (paths.empty())                \
  GTEST_SKIP() << "no PyTorch snapshots in " << trace_folder() << "; set ASSAY_SHARED_DATA to check them"

TEST(AllocatorOracle, EveryRecordedAddressComesOutAgain) {
  ASSAY_TRACES_OR_SKIP(paths);
  std::size_t allocations = 0;
  std::size_t matched = 0;
  for (const auto& path : paths) {
    SCOPED_TRACE(path.filename().string());
    const Trace trace = read_pytorch_trace(path.string());
    const Outcome outcome = replay(trace);
    EXPECT_FALSE(outcome.divergence) << "event " << *outcome.divergence << " of " << trace.recorded_events
                                     << ": recorded " << outcome.recorded << ", returned " << outcome.returned;
    EXPECT_EQ(outcome.matched, trace.allocations);
    std::cout << path.filename().string() << ": " << outcome.matched << " of " << trace.allocations
              << " allocations and " << outcome.segments << " new segments matched\n";
    allocations += trace.allocations;
    matched += outcome.matched;
  }
  std::cout << matched << " of " << allocations << " allocations in all\n";
}

// The check can fail: another rounding, and a recording with one address moved, are noticed.
TEST(AllocatorOracle, AnotherRuleOrAnotherAddressDiverges) {
  ASSAY_TRACES_OR_SKIP(paths);
  Trace trace = read_pytorch_trace(paths.front().string());
  EXPECT_TRUE(replay(trace, "roundup_power2_divisions:1,large_segment_size_mb:20").divergence == std::nullopt);
  EXPECT_TRUE(replay(trace, "roundup_power2_divisions:2").divergence);
  const auto last = std::find_if(trace.events.rbegin(), trace.events.rend(),
                                 [](const TraceEvent& event) { return event.action == TraceEvent::Action::alloc; });
  last->address += 512;
  const Outcome moved = replay(trace);
  ASSERT_TRUE(moved.divergence);
  EXPECT_EQ(*moved.divergence, last->index);
}

struct Peaks {
  std::int64_t allocated_mib = 0;
  std::int64_t reserved_mib = 0;
};

// The recording's requests from an empty allocator, on a device that hands out increasing addresses.
Peaks replay_from_empty(const Trace& trace, const char* options) {
  Rig rig(options, std::size_t{1} << 50);
  std::map<std::uintptr_t, std::uintptr_t> blocks;
  for (const TraceEvent& event : trace.events) {
    if (event.action == TraceEvent::Action::alloc) blocks[event.address] = rig.take(event.bytes);
    if (event.action != TraceEvent::Action::free_completed || blocks.count(event.address) == 0) continue;
    rig.give(blocks[event.address]);
    blocks.erase(event.address);
  }
  expect_consistent(*rig.caching);
  const auto mib = [](std::int64_t bytes) { return (bytes + (1 << 19)) >> 20; };
  return {mib(rig.stats().allocated_bytes[0].peak), mib(rig.stats().reserved_bytes[0].peak)};
}

// Expected values: the allocator code of PyTorch 2.6.0 itself, replaying the same requests over a stub runtime, in MiB
// to the nearest.
TEST(AllocatorOracle, PeaksFromEmptyEqualThoseOfPyTorchsOwnCode) {
  ASSAY_TRACES_OR_SKIP(paths);
  const std::map<std::string, Peaks> expected{{"cs336-b-forward.json", {11346, 12130}},
                                              {"cs336-medium-1024-training.json", {18226, 19130}},
                                              {"cs336-c.json", {1914, 2052}}};
  std::size_t checked = 0;
  for (const auto& path : paths) {
    const auto known = expected.find(path.filename().string());
    if (known == expected.end()) continue;
    SCOPED_TRACE(known->first);
    ++checked;
    const Trace trace = read_pytorch_trace(path.string());
    for (const char* options : {"", "tie_break:creation"}) {
      const Peaks peaks = replay_from_empty(trace, options);
      EXPECT_EQ(peaks.allocated_mib, known->second.allocated_mib) << options;
      EXPECT_EQ(peaks.reserved_mib, known->second.reserved_mib) << options;
    }
  }
  EXPECT_EQ(checked, expected.size());
}

}  // namespace
