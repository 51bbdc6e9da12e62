// SPDX-License-Identifier: Apache-2.0
// The caching policy's way to out of memory, step by step; garbage collection; and failures of the device at any call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/allocator_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::testing::Call;
using assay::testing::Category;
using assay::testing::expect_consistent;
using assay::testing::FakeDevice;
using assay::testing::kMiB;
using assay::testing::Rig;
using ::testing::HasSubstr;

TEST(AllocatorMemory, EventsAreProcessedBeforeTheDeviceIsAsked) {
  Rig rig({}, 12 * kMiB);
  auto* other = rig.device.new_stream();
  const auto block = rig.take(12 * kMiB);
  rig.use(block, other);
  rig.give(block);
  rig.device.finish(other);
  EXPECT_EQ(rig.take(12 * kMiB), block);
  EXPECT_EQ(rig.device_allocs(), 1u);
}

TEST(AllocatorMemory, ARefusalReleasesUnusedSegmentsAndTriesAgain) {
  Rig rig({}, 40 * kMiB);
  rig.give(rig.take(12 * kMiB));
  rig.give(rig.take(512));
  const auto kept = rig.take(16 * kMiB);
  rig.take(20 * kMiB);
  const auto s = rig.stats();
  EXPECT_EQ(s.num_alloc_retries, 1);
  EXPECT_EQ(s.num_sync_all_streams, 1);
  EXPECT_EQ(s.num_ooms, 0);
  EXPECT_EQ(s.num_device_free, 2);
  EXPECT_EQ(s.num_device_alloc, 4) << "the refused call is not an allocation";
  EXPECT_EQ(rig.device_allocs(), 5u);
  EXPECT_EQ(rig.device.calls(Call::event_synchronize), 0u) << "no free was pending";
  rig.give(kept);
  expect_consistent(*rig.caching);
}

TEST(AllocatorMemory, ARefusalWaitsForPendingFreesOfEveryStream) {
  Rig rig({}, 24 * kMiB);
  auto* second = rig.device.new_stream();
  auto* third = rig.device.new_stream();
  const auto a = rig.take(12 * kMiB);
  const auto b = rig.take_on(second, 12 * kMiB);
  rig.use(a, second);
  rig.use(a, third);
  rig.use(b, third);
  rig.give(a);
  rig.give(b);
  EXPECT_NE(rig.take(24 * kMiB), 0u);
  EXPECT_EQ(rig.device.calls(Call::event_synchronize), 3u);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.device.held_bytes(), 24 * kMiB);
}

TEST(AllocatorMemory, WithASplitLimitOneFittingOversizeBlockGoesFirst) {
  Rig rig("max_split_size_mb:32", 200 * kMiB);
  const auto a = rig.take(40 * kMiB);
  const auto b = rig.take(70 * kMiB);
  const auto c = rig.take(90 * kMiB);
  rig.give(a);
  rig.give(b);
  rig.give(c);
  // 45 MiB may take blocks below 65 MiB only; 40 is too small. The smallest block that could hold it is given back.
  EXPECT_NE(rig.take(45 * kMiB), 0u);
  EXPECT_EQ(rig.device.freed_addresses(), std::vector<std::uintptr_t>{b});
  const auto s = rig.stats();
  EXPECT_EQ(s.num_alloc_retries, 0) << "no full flush was needed";
  EXPECT_EQ(s.num_sync_all_streams, 0);
  expect_consistent(*rig.caching);
}

TEST(AllocatorMemory, WithASplitLimitSeveralOversizeBlocksGoFromTheLargest) {
  Rig rig("max_split_size_mb:32", 114 * kMiB);
  const auto a = rig.take(34 * kMiB);
  const auto b = rig.take(36 * kMiB);
  const auto c = rig.take(44 * kMiB);
  rig.give(a);
  rig.give(b);
  rig.give(c);
  EXPECT_NE(rig.take(80 * kMiB), 0u);  // 44 + 36 is just enough: the third stays
  EXPECT_EQ(rig.device.freed_addresses(), (std::vector<std::uintptr_t>{c, b}));
  EXPECT_EQ(rig.stats().num_alloc_retries, 0);
}

TEST(AllocatorMemory, TooFewOversizeBlocksLeadToTheFullFlush) {
  Rig rig("max_split_size_mb:32", 100 * kMiB);
  rig.give(rig.take(34 * kMiB));
  rig.give(rig.take(24 * kMiB));
  rig.take(40 * kMiB);
  EXPECT_NE(rig.take(60 * kMiB), 0u);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.stats().num_device_free, 2);
}

TEST(AllocatorMemory, WithoutASplitLimitNothingIsReleasedHalfway) {
  Rig rig({}, 200 * kMiB);
  const auto a = rig.take(40 * kMiB);
  const auto b = rig.take(70 * kMiB);
  const auto c = rig.take(90 * kMiB);
  rig.give(a);
  rig.give(b);
  rig.give(c);
  EXPECT_NE(rig.take(100 * kMiB), 0u);
  EXPECT_EQ(rig.device.freed_addresses().size(), 3u);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
}

TEST(AllocatorMemory, OutOfMemoryNamesEveryNumberAndKeepsTheAllocatorUsable) {
  Rig rig({}, 64 * kMiB);
  rig.device.set_foreign_bytes(4 * kMiB);
  const auto a = rig.take(5 * kMiB);  // 20 MiB segment
  const auto b = rig.take(30 * kMiB);
  const auto refused = rig.caching->allocate(21 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  const std::string& text = refused.error().text;
  EXPECT_THAT(text, HasSubstr("request of 22020096 bytes"));
  EXPECT_THAT(text, HasSubstr("segment of 23068672 bytes"));          // 22 MiB
  EXPECT_THAT(text, HasSubstr("allocated 36700160 bytes"));           // 35 MiB
  EXPECT_THAT(text, HasSubstr("reserved 52428800 bytes"));            // 50 MiB
  EXPECT_THAT(text, HasSubstr("largest free block 15728640 bytes"));  // 15 MiB
  EXPECT_THAT(text, HasSubstr("device free 10485760 bytes"));         // 64 - 50 - 4 MiB
  EXPECT_EQ(rig.stats().num_ooms, 1);
  EXPECT_EQ(rig.stats().allocation[0].current, 2);
  expect_consistent(*rig.caching);
  EXPECT_EQ(rig.take(15 * kMiB), a + 5 * kMiB);
  rig.give(b);
  EXPECT_NE(rig.take(31 * kMiB), 0u);
}

TEST(AllocatorMemory, AMapLimitIsPassedOnWithoutFlushing) {
  Rig rig;
  rig.give(rig.take(12 * kMiB));
  rig.device.fail(Call::malloc, 1, ASSAY_MAP_LIMIT);
  const auto refused = rig.caching->allocate(14 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::map_limit);
  EXPECT_EQ(rig.stats().num_ooms, 0);
  EXPECT_EQ(rig.stats().num_device_free, 0);
  EXPECT_NE(rig.take(14 * kMiB), 0u);
  expect_consistent(*rig.caching);
}

TEST(AllocatorMemory, AMemoryFractionRefusesWithoutAskingTheDevice) {
  Rig rig("per_process_memory_fraction:0.5", 64 * kMiB);
  rig.take(20 * kMiB);
  const auto before = rig.device_allocs();
  const auto refused = rig.caching->allocate(14 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, HasSubstr("33554432 bytes set by per_process_memory_fraction"));
  EXPECT_EQ(rig.device_allocs(), before);
  EXPECT_EQ(rig.stats().num_ooms, 1);
  EXPECT_NE(rig.take(12 * kMiB), 0u) << "exactly the limit";
}

// ---- garbage collection ----

TEST(AllocatorGarbage, FreesTheOldestUnsplitLargeBlocksAboveTheThreshold) {
  // Allowed 128 MiB, collected above 64.
  Rig rig("per_process_memory_fraction:1,garbage_collection_threshold:0.5", 128 * kMiB);
  const auto old = rig.take(20 * kMiB);
  const auto young = rig.take(30 * kMiB);
  rig.take(16 * kMiB);  // 66 MiB reserved
  rig.give(old);
  rig.give(young);
  for (int i = 0; i < 3; ++i) {
    const auto again = rig.take(30 * kMiB);
    EXPECT_EQ(again, young);
    rig.give(again);
  }
  // The next miss finds 66 > 64 reserved. Ages: old 4 searches, young 1, average 2.5.
  rig.take(40 * kMiB);
  const auto freed = rig.device.freed_addresses();
  ASSERT_FALSE(freed.empty());
  EXPECT_EQ(freed.front(), old);
  EXPECT_EQ(std::count(freed.begin(), freed.end(), young), 0);
  EXPECT_EQ(rig.stats().num_sync_all_streams, 0) << "garbage collection waits for nothing";
  EXPECT_EQ(rig.stats().num_alloc_retries, 0);
  expect_consistent(*rig.caching);
}

TEST(AllocatorGarbage, RepeatsWithTheAverageOfThoseLeftUntilTheTarget) {
  Rig rig("per_process_memory_fraction:1,garbage_collection_threshold:0.25", 128 * kMiB);
  const auto a = rig.take(20 * kMiB);
  const auto b = rig.take(22 * kMiB);
  const auto c = rig.take(24 * kMiB);
  rig.give(a);
  rig.give(b);
  rig.give(c);
  // 66 MiB reserved, 32 allowed before collection: 34 must go. All are of one age, so all go in the first round.
  rig.take(26 * kMiB);
  EXPECT_EQ(rig.stats().num_device_free, 3);
  EXPECT_EQ(rig.stats().reserved_bytes[0].current, static_cast<std::int64_t>(26 * kMiB));
}

TEST(AllocatorGarbage, LeavesSplitAndSmallBlocksAndStaysOffBelowTheThreshold) {
  Rig rig("per_process_memory_fraction:1,garbage_collection_threshold:0.5", 128 * kMiB);
  rig.give(rig.take(512));
  const auto piece = rig.take(2 * kMiB);
  rig.take(2 * kMiB);
  rig.give(piece);
  rig.give(rig.take(30 * kMiB));
  rig.take(60 * kMiB);  // 52 MiB reserved before: no collection
  EXPECT_EQ(rig.stats().num_device_free, 0);
  rig.take(12 * kMiB);  // served from the free 30 MiB
  EXPECT_EQ(rig.stats().num_device_free, 0);
  rig.take(14 * kMiB);  // the rest of it: 18 MiB
  EXPECT_EQ(rig.stats().num_device_free, 0);
  rig.take(16 * kMiB);  // a miss above the threshold: nothing unsplit and large is free
  EXPECT_EQ(rig.stats().num_device_free, 0);
  expect_consistent(*rig.caching);
}

// ---- the device fails at the n-th call ----

// Allocations, frees, deferred frees, a flush and an out of memory; every answer is accepted, none may corrupt.
void scenario(Rig& rig, assay_stream* other) {
  std::vector<void*> live;
  const auto take = [&](std::size_t bytes, assay_stream* stream) {
    auto pointer = rig.caching->allocate(bytes, stream, Category::activation);
    if (pointer) live.push_back(*pointer);
  };
  const auto drop = [&](std::size_t index) {
    if (index >= live.size()) return;
    if (rig.caching->deallocate(live[index])) live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
  };
  take(512, rig.stream);
  take(12 * kMiB, rig.stream);
  take(2 * kMiB, other);
  take(40 * kMiB, other);
  if (live.size() > 1) (void)rig.caching->record_stream(live[1], other);
  if (live.size() > 3) (void)rig.caching->record_stream(live[3], rig.stream);
  drop(3);
  drop(1);
  take(14 * kMiB, rig.stream);
  rig.device.finish(other);
  take(60 * kMiB, rig.stream);  // forces a flush on 96 MiB
  take(90 * kMiB, rig.stream);  // cannot be had
  drop(0);
  (void)rig.caching->empty_cache();
  while (!live.empty()) {
    const std::size_t before = live.size();
    drop(live.size() - 1);
    if (live.size() == before) break;
  }
}

TEST(AllocatorFaults, EveryCallMayFailAndTheBooksStillBalance) {
  for (const std::string_view options :
       {"", "max_split_size_mb:32", "per_process_memory_fraction:0.9,garbage_collection_threshold:0.3"}) {
    for (const assay_status status : {ASSAY_OUT_OF_MEMORY, ASSAY_MAP_LIMIT, ASSAY_DEVICE_LOST}) {
      std::size_t nth = 1;
      for (;; ++nth) {
        Rig rig(options, 96 * kMiB);
        auto* other = rig.device.new_stream();
        rig.device.fail_any(nth, status);
        scenario(rig, other);
        const bool reached = rig.device.failed_any();
        rig.device.stop_failing();
        expect_consistent(*rig.caching);
        EXPECT_EQ(rig.stats().reserved_bytes[0].current, static_cast<std::int64_t>(rig.device.held_bytes()));
        // Still usable: everything not live can be given back, and a block be had.
        EXPECT_TRUE(rig.caching->empty_cache());
        EXPECT_TRUE(rig.caching->allocate(512, rig.stream, Category::kv));
        expect_consistent(*rig.caching);
        rig.caching.reset();
        EXPECT_EQ(rig.device.held_bytes(), 0u) << "call " << nth;
        EXPECT_EQ(rig.device.events(), 0u) << "call " << nth;
        if (!reached || HasFailure()) break;
      }
      EXPECT_GT(nth, 15u) << "the scenario makes at least 15 device calls";
    }
  }
}

}  // namespace
