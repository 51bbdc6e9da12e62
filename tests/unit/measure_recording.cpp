// SPDX-License-Identifier: Apache-2.0
// What is recorded of an allocator's calls: the trace and the snapshot read back, and agree with the statistics.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "suite/measure/instruments.hpp"
#include "suite/measure/recording.hpp"
#include "suite/trace/trace.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using namespace assay;
using assay::testing::kMiB;
using assay::testing::PolicyRig;
using measure::RecordingAllocator;
using measure::RecordingParts;
using trace::Action;
namespace fs = std::filesystem;

class Recording : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : name)
      if (c == '/') c = '_';
    folder_ = fs::path(::testing::TempDir()) / ("recording_" + name + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::unique_ptr<RecordingAllocator> record(PolicyRig& rig, const std::string& file, std::size_t history) {
    RecordingParts parts;
    if (!file.empty()) {
      trace::Origin origin;
      origin.framework = "assay";
      origin.settings = "line\nbreak";
      auto writer = trace::TraceWriter::create(file, origin);
      EXPECT_TRUE(writer) << writer.error().text;
      parts.writer = std::make_unique<trace::TraceWriter>(*std::move(writer));
    }
    parts.history = history;
    parts.device_free = [] { return std::int64_t{77}; };
    return std::make_unique<RecordingAllocator>(std::move(rig.allocator), std::move(parts));
  }

  static std::vector<trace::Event> events_of(const std::string& file) {
    std::vector<trace::Event> out;
    auto source = trace::open(file);
    EXPECT_TRUE(source) << source.error().text;
    if (!source) return out;
    auto checked = trace::checked(*std::move(source), file);
    trace::Event event;
    for (;;) {
      const auto more = checked->next(event);
      EXPECT_TRUE(more) << more.error().text;
      if (!more || !*more) return out;
      out.push_back(event);
    }
  }

  fs::path folder_;
};

// Random calls on two streams, a block in eight used by the other one too.
void churn(PolicyRig& rig, allocator::Allocator& allocator, int steps) {
  std::mt19937_64 random(11);
  auto* other = rig.device.new_stream();
  std::vector<void*> live;
  for (int i = 0; i < steps; ++i) {
    if (live.size() < 40 && random() % 2 == 0) {
      auto pointer = allocator.allocate(1 + (random() % (std::size_t{1} << (10 + random() % 14))),
                                        random() % 3 == 0 ? other : rig.stream, allocator::Category::activation);
      if (pointer) live.push_back(*pointer);
      continue;
    }
    if (live.empty()) continue;
    std::swap(live[random() % live.size()], live.back());
    if (random() % 8 == 0) {
      ASSERT_TRUE(allocator.record_stream(live.back(), rig.stream));
      ASSERT_TRUE(allocator.record_stream(live.back(), other));
    }
    ASSERT_TRUE(allocator.deallocate(live.back()));
    live.pop_back();
    if (random() % 16 == 0) rig.device.finish(random() % 2 == 0 ? other : rig.stream);
    if (random() % 200 == 0) {
      ASSERT_TRUE(allocator.empty_cache());
    }
  }
  rig.device.finish(other);
  rig.device.finish(rig.stream);
  ASSERT_TRUE(allocator.process_events());
}

TEST_P(Recording, TheTraceReadsBackAndItsPeaksAreThoseOfTheStatistics) {
  for (const char* name : {"trace.csv", "trace.csv.gz"}) {
    PolicyRig rig(GetParam());
    auto recorder = record(rig, path(name), 0);
    churn(rig, *recorder, 4000);
    ASSERT_TRUE(recorder->flush());
    const auto statistics = recorder->statistics();
    const auto events = events_of(path(name));
    std::map<std::uint64_t, std::int64_t> live;
    std::int64_t requested = 0;
    std::int64_t peak = 0;
    std::int64_t allocations = 0;
    for (const auto& event : events) {
      if (event.action == Action::alloc) {
        ++allocations;
        live[event.address] = event.bytes;
        requested += event.bytes;
        EXPECT_EQ(event.category, static_cast<int>(allocator::Category::activation));
        EXPECT_GT(event.stream, 0u);
      } else if (event.action == Action::free || event.action == Action::free_completed) {
        requested -= live[event.address];
        EXPECT_EQ(event.bytes, live[event.address]);
        live.erase(event.address);
      }
      peak = std::max(peak, requested);
    }
    EXPECT_EQ(allocations, statistics.allocation[0].allocated);
    EXPECT_EQ(requested, statistics.requested_bytes[0].current);
    // A completion is seen after the call that met it, so the recorded peak may count a block that had just gone; it is
    // never below the true one. The remapping policy's own peak is a sum over streams, an upper bound.
    if (std::string(GetParam()) != "remapping") {
      EXPECT_EQ(peak, statistics.requested_bytes[0].peak);
    }
  }
}

TEST_P(Recording, ThePrefixThatAKilledProcessLeavesReadsToItsEnd) {
  for (const char* name : {"trace.csv", "trace.csv.gz"}) {
    PolicyRig rig(GetParam());
    auto recorder = record(rig, path(name), 0);
    churn(rig, *recorder, 300);
    ASSERT_TRUE(recorder->flush());
    churn(rig, *recorder, 300);
    ASSERT_TRUE(recorder->flush());
    fs::copy_file(path(name), path(std::string("killed-") + name));  // what is on disk while the recorder lives on
    const auto whole = events_of(path(std::string("killed-") + name));
    EXPECT_GT(whole.size(), 300u);
    churn(rig, *recorder, 300);
    recorder.reset();
    EXPECT_GT(events_of(path(name)).size(), whole.size());
  }
}

TEST_P(Recording, TheSnapshotReadsBackWithEverySegmentAndBlock) {
  PolicyRig rig(GetParam());
  auto recorder = record(rig, {}, 100'000);
  churn(rig, *recorder, 3000);
  std::ofstream(path("snapshot.json")) << recorder->snapshot_text();
  auto source = trace::open(path("snapshot.json"));
  ASSERT_TRUE(source) << source.error().text;
  const auto& header = (*source)->header();
  EXPECT_EQ(header.origin.format, trace::Format::pytorch_json);
  const auto segments = recorder->snapshot();
  ASSERT_EQ(header.final_segments.size(), segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(header.final_segments[i].address, segments[i].address);
    EXPECT_EQ(header.final_segments[i].bytes, static_cast<std::int64_t>(segments[i].total_bytes));
    EXPECT_EQ(header.final_segments[i].small_pool, segments[i].small_pool);
    ASSERT_EQ(header.final_segments[i].blocks.size(), segments[i].blocks.size());
    for (std::size_t j = 0; j < segments[i].blocks.size(); ++j) {
      const auto& block = header.final_segments[i].blocks[j];
      EXPECT_EQ(block.address, segments[i].blocks[j].address);
      EXPECT_EQ(block.bytes, static_cast<std::int64_t>(segments[i].blocks[j].bytes));
      EXPECT_EQ(block.state == trace::RecordedState::active,
                segments[i].blocks[j].state == allocator::BlockState::active_allocated);
    }
  }
  // The segment events alone give the reserved bytes: nothing came or went unseen.
  std::int64_t reserved = 0;
  trace::Event event;
  for (;;) {
    const auto more = (*source)->next(event);
    ASSERT_TRUE(more) << more.error().text;
    if (!*more) break;
    if (event.action == Action::segment_alloc || event.action == Action::segment_map) reserved += event.bytes;
    if (event.action == Action::segment_free || event.action == Action::segment_unmap) reserved -= event.bytes;
    if (event.action == Action::alloc) {
      EXPECT_GE(reserved, event.bytes);
    }
  }
  EXPECT_EQ(reserved, recorder->statistics().reserved_bytes[0].current);
}

TEST_P(Recording, WhatItDoesNotRecordIsPassedOn) {
  PolicyRig plain(GetParam());
  PolicyRig rig(GetParam());
  auto recorder = record(rig, {}, 10);
  EXPECT_EQ(recorder->policy(), GetParam());
  EXPECT_EQ(recorder->options(), plain.allocator->options());
  EXPECT_EQ(recorder->notes(), plain.allocator->notes());
  EXPECT_EQ(recorder->reliability().block_peaks_exact, plain.allocator->reliability().block_peaks_exact);
  const allocator::MempoolId pool{3, 5};
  const auto any = [](assay_stream*) { return true; };
  const bool keeps_pools = plain.allocator->begin_pool(pool, any).has_value();
  ASSERT_EQ(recorder->begin_pool(pool, any).has_value(), keeps_pools);
  if (!keeps_pools) return;
  const auto pointer = recorder->allocate(512, rig.stream, allocator::Category::kv);
  ASSERT_TRUE(pointer);
  EXPECT_TRUE(recorder->end_pool(pool));
  EXPECT_NE(recorder->snapshot_text().find("\"segment_pool_id\": [3, 5]"), std::string::npos);
  EXPECT_TRUE(recorder->deallocate(*pointer));
  EXPECT_TRUE(recorder->release_pool(pool));
}

INSTANTIATE_TEST_SUITE_P(Policies, Recording, ::testing::Values("caching", "direct", "expandable", "remapping"));

class RecordingOnce : public Recording {};

TEST_F(RecordingOnce, AnOutOfMemoryIsAnEventWithTheDevicesFreeBytes) {
  PolicyRig rig("caching", {}, 64 * kMiB);
  auto recorder = record(rig, path("trace.csv"), 100);
  ASSERT_TRUE(recorder->allocate(32 * kMiB, rig.stream, allocator::Category::kv));
  ASSERT_FALSE(recorder->allocate(48 * kMiB, rig.stream, allocator::Category::kv));
  ASSERT_TRUE(recorder->flush());
  const auto events = events_of(path("trace.csv"));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].action, Action::out_of_memory);
  EXPECT_EQ(events[1].bytes, static_cast<std::int64_t>(48 * kMiB));
  const auto text = recorder->snapshot_text();
  EXPECT_NE(text.find("\"action\": \"oom\", \"device_free\": 77, \"size\": 50331648"), std::string::npos) << text;
}

TEST_F(RecordingOnce, TheHistoryKeepsTheNewestAndAnExistingFileIsRefused) {
  PolicyRig rig("caching");
  auto recorder = record(rig, {}, 4);
  for (int i = 0; i < 50; ++i) {
    auto pointer = recorder->allocate(512, rig.stream, allocator::Category::kv);
    ASSERT_TRUE(pointer);
    ASSERT_TRUE(recorder->deallocate(*pointer));
  }
  const auto text = recorder->snapshot_text();
  std::size_t events = 0;
  for (std::size_t at = 0; (at = text.find("\"action\"", at)) != std::string::npos; ++at) ++events;
  EXPECT_EQ(events, 4u);
  std::ofstream(path("there.csv")) << "kept";
  const auto refused = trace::TraceWriter::create(path("there.csv"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::output);
}

TEST(Instruments, FilesOfSeveralLaunchesAreNumberedBeforeTheirExtensions) {
  EXPECT_EQ(measure::path_of_launch("a/b.c/trace.csv.gz", 3, 7), "a/b.c/trace-3.csv.gz");
  EXPECT_EQ(measure::path_of_launch("a/b.c/trace", 0, 7), "a/b.c/trace-0");
  EXPECT_EQ(measure::path_of_launch(".hidden", 2, 7), ".hidden-2");
  EXPECT_EQ(measure::path_of_launch("trace.csv", 3, 1), "trace.csv");
  EXPECT_EQ(measure::path_of_launch("", 3, 7), "");
}

}  // namespace
