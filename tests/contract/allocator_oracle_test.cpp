// SPDX-License-Identifier: Apache-2.0
// The caching policy against PyTorch itself: every address and segment size of recorded memory snapshots comes out
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "suite/replay/recorded_run.hpp"
#include "suite/replay/recording.hpp"
#include "suite/replay/trace_input.hpp"
#include "suite/replay/verify.hpp"
#include "tests/support/allocator_rig.hpp"
#include "tests/support/pytorch_trace.hpp"

namespace {

using assay::replay::Agreement;
using assay::replay::recording_of;
using assay::replay::run_recording;
using assay::replay::TraceInput;
using assay::replay::Verification;
using assay::replay::verify;
using assay::testing::expect_consistent;
using assay::testing::read_pytorch_trace;
using assay::testing::Rig;
using assay::testing::Trace;
using assay::testing::TraceEvent;

std::filesystem::path trace_folder() {
  if (const char* data = std::getenv("ASSAY_SHARED_DATA")) return std::filesystem::path(data) / "traces" / "pytorch";
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  return std::filesystem::path(source != nullptr ? source : ".") / ".." / "shared" / "data" / "traces" / "pytorch";
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
    const auto trace = TraceInput::open(path.string());
    ASSERT_TRUE(trace) << trace.error().text;
    const auto verified = verify(**trace);
    ASSERT_TRUE(verified) << verified.error().text;
    ASSERT_EQ(verified->size(), 1U);
    const Verification& one = verified->front();
    EXPECT_EQ(one.agreement, Agreement::matched);
    if (const auto& first = one.first_divergence)
      ADD_FAILURE() << "event " << first->event << ": expected " << first->expected << ", got " << first->got;
    EXPECT_EQ(one.allocations_matched, one.allocations);
    EXPECT_EQ(one.segment_events_matched, one.segment_events);
    std::cout << path.filename().string() << ": " << one.allocations_matched << " of " << one.allocations
              << " allocations and " << one.segment_events_matched << " of " << one.segment_events
              << " segment events matched\n";
    allocations += one.allocations;
    matched += one.allocations_matched;
  }
  std::cout << matched << " of " << allocations << " allocations in all\n";
}

// The check can fail: another rounding is noticed. Altered addresses: golden.cli_replay.
TEST(AllocatorOracle, AnotherRuleDiverges) {
  ASSAY_TRACES_OR_SKIP(paths);
  const auto trace = TraceInput::open(paths.front().string());
  ASSERT_TRUE(trace) << trace.error().text;
  const auto same = *assay::allocator::parse_options("roundup_power2_divisions:1,large_segment_size_mb:20");
  const auto other = *assay::allocator::parse_options("roundup_power2_divisions:2");
  EXPECT_FALSE(run_recording(*recording_of(**trace, 0, same), same).stop);
  EXPECT_TRUE(run_recording(*recording_of(**trace, 0, other), other).stop);
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
