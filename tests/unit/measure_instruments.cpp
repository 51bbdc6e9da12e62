// SPDX-License-Identifier: Apache-2.0
// Launches with instruments: the trace replays to the peaks that were measured, the snapshot reads back, also of a
// launch that ran out of memory, and the document says what slowed it down.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/replay/compare_policies.hpp"
#include "suite/run/children.hpp"
#include "suite/trace/trace.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

using test::counter;
using test::host;
using test::tiny;

struct Kept {
  Result<void> result;
  std::vector<Phase> phases;
  std::optional<std::vector<CallLatency>> calls;
};

Kept launch_with(const Workload& work, const Instruments& instruments, const std::string& policy = "caching",
                 const PlannedDevice& device = host()) {
  LaunchRequest request;
  request.plan.devices = {device};
  request.plan.workloads = {work};
  request.plan.allocator = policy;
  request.instruments = instruments;
  Kept kept;
  kept.result = execute_launch(request, [&](const JournalEntry& entry) -> Result<void> {
    if (const auto* finished = std::get_if<PhaseFinished>(&entry)) kept.phases.push_back(finished->phase);
    if (const auto* timed = std::get_if<AllocatorTimed>(&entry)) kept.calls = timed->calls;
    return {};
  });
  return kept;
}

std::int64_t highest(const std::vector<Phase>& phases, const std::string& name) {
  std::int64_t top = 0;
  for (const auto& phase : phases) top = std::max(top, counter(phase.end, name));
  return top;
}

TEST(MeasureInstruments, TheRecordedTraceReplaysToTheMeasuredPeaks) {
  const assay::test::ScratchFolder folder;
  for (const char* policy : {"caching", "direct"}) {
    SCOPED_TRACE(policy);
    const std::string file = (folder.path() / (std::string(policy) + ".csv.gz")).string();
    const auto ran = launch_with(tiny(), {file, {}, false}, policy);
    ASSERT_TRUE(ran.result) << ran.result.error().text;
    auto input = replay::TraceInput::open(file);
    ASSERT_TRUE(input) << input.error().text;
    EXPECT_EQ((*input)->header().origin.framework, "assay");
    EXPECT_EQ((*input)->header().origin.platform, "cpu");
    EXPECT_EQ((*input)->header().origin.settings, policy);
    EXPECT_GT((*input)->allocations(), 100u);
    const auto outcomes = replay::compare_policies(**input, {{policy, "", policy}}, {});
    ASSERT_TRUE(outcomes) << outcomes.error().text;
    ASSERT_EQ(outcomes->size(), 1u);
    const auto& peaks = outcomes->front().peaks;
    EXPECT_FALSE(outcomes->front().refusal);
    EXPECT_EQ(static_cast<std::int64_t>(peaks.requested_bytes), highest(ran.phases, "requested_bytes.all.peak"));
    EXPECT_EQ(static_cast<std::int64_t>(peaks.allocated_bytes), highest(ran.phases, "allocated_bytes.all.peak"));
    EXPECT_EQ(static_cast<std::int64_t>(peaks.active_bytes), highest(ran.phases, "active_bytes.all.peak"));
    EXPECT_EQ(static_cast<std::int64_t>(peaks.reserved_bytes), highest(ran.phases, "reserved_bytes.all.peak"));
  }
}

TEST(MeasureInstruments, EveryCategoryIsInTheTraceAndEveryPhaseSaysThatItWasRecorded) {
  const assay::test::ScratchFolder folder;
  const std::string file = (folder.path() / "trace.csv").string();
  const auto ran = launch_with(tiny(), {file, {}, true});
  ASSERT_TRUE(ran.result) << ran.result.error().text;
  for (const auto& phase : ran.phases) {
    std::string all;
    for (const auto& condition : phase.conditions) all += condition + ";";
    EXPECT_NE(all.find("every call of the allocator timed"), std::string::npos) << phase.name << ": " << all;
    EXPECT_NE(all.find("every call of the allocator recorded"), std::string::npos) << phase.name << ": " << all;
  }
  auto source = trace::open(file);
  ASSERT_TRUE(source) << source.error().text;
  std::vector<std::int64_t> seen(allocator::kCategoryCount);
  trace::Event event;
  std::int64_t allocations = 0;
  for (;;) {
    const auto more = (*source)->next(event);
    ASSERT_TRUE(more) << more.error().text;
    if (!*more) break;
    if (event.action != trace::Action::alloc) continue;
    ++allocations;
    ASSERT_GE(event.category, 0);
    ++seen[static_cast<std::size_t>(event.category)];
  }
  for (const auto category : {allocator::Category::weights, allocator::Category::inputs, allocator::Category::kv,
                              allocator::Category::activation})
    EXPECT_GT(seen[static_cast<std::size_t>(category)], 0) << static_cast<int>(category);
  // Each allocation of the trace was timed under one of three kinds.
  ASSERT_TRUE(ran.calls);
  std::int64_t timed = 0;
  for (const auto& call : *ran.calls) {
    if (call.call == "hit" || call.call == "split" || call.call == "miss") timed += call.count;
    EXPECT_EQ(call.count > 0, call.p50.has_value()) << call.call;
    if (!call.p50.has_value()) continue;
    EXPECT_LE(std::get<std::int64_t>(call.p50.value), std::get<std::int64_t>(call.p99.value));
    EXPECT_LE(std::get<std::int64_t>(call.p99.value), std::get<std::int64_t>(call.max.value));
  }
  EXPECT_EQ(timed, allocations);
  EXPECT_FALSE(launch_with(tiny(), {}).calls) << "off unless asked for";
}

TEST(MeasureInstruments, ASnapshotIsTheStateAtTheEndOrWhereMemoryRanOut) {
  const assay::test::ScratchFolder folder;
  for (const bool short_of_memory : {false, true}) {
    Workload work = tiny();
    if (short_of_memory) {
      work.model.vocabulary = 30'000;
      work.model.hidden_size = 240;
      work.model.head_dim = 40;
    }
    const std::string file = (folder.path() / (short_of_memory ? "short.json" : "end.json")).string();
    const auto ran = launch_with(work, {{}, file, false}, "caching",
                                 host({{"memory_bytes", std::to_string(short_of_memory ? 24 << 20 : 512 << 20)}}));
    ASSERT_EQ(ran.result.has_value(), !short_of_memory) << (ran.result ? "" : ran.result.error().text);
    auto source = trace::open(file);
    ASSERT_TRUE(source) << source.error().text;
    std::int64_t reserved = 0;
    std::int64_t active = 0;
    for (const auto& segment : (*source)->header().final_segments) {
      reserved += segment.bytes;
      for (const auto& block : segment.blocks)
        active += block.state == trace::RecordedState::inactive ? 0 : block.bytes;
    }
    EXPECT_EQ(reserved, counter(ran.phases.back().end, "reserved_bytes.all.current"));
    EXPECT_EQ(active, counter(ran.phases.back().end, "active_bytes.all.current"));
    trace::Event event;
    trace::Event last;
    for (;;) {
      const auto more = (*source)->next(event);
      ASSERT_TRUE(more) << more.error().text;
      if (!*more) break;
      last = event;
    }
    EXPECT_EQ(last.action == trace::Action::out_of_memory, short_of_memory);
  }
}

TEST(MeasureInstruments, AFileThatCannotBeMadeFailsTheLaunchAsOutput) {
  for (const bool snapshot : {false, true}) {
    Instruments instruments;
    (snapshot ? instruments.snapshot : instruments.record_trace) = "/nowhere/at/all/file";
    const auto ran = launch_with(tiny(), instruments);
    ASSERT_FALSE(ran.result);
    EXPECT_EQ(ran.result.error().code, ErrorCode::output) << ran.result.error().text;
    EXPECT_EQ(ran.phases.size() > 1, snapshot) << "a trace's file is made before anything is measured";
  }
}

TEST(MeasureInstruments, TravelToTheChildWithItsPlan) {
  LaunchRequest request;
  request.plan.devices = {host()};
  Workload work = tiny();
  work.source.name = "tiny";
  request.plan.workloads = {work};
  request.order = 5;
  for (const bool latency : {false, true})
    for (const char* trace : {"", "a b/trace=.csv"})
      for (const char* snapshot : {"", "snapshot=.json"}) {
        request.instruments = {trace, snapshot, latency};
        const auto again = run::read_launch_request(run::write_launch_request(request));
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(again->instruments, request.instruments);
        EXPECT_EQ(again->order, 5);
        EXPECT_EQ(again->plan, request.plan);
      }
}

}  // namespace
}  // namespace assay::measure
