// SPDX-License-Identifier: Apache-2.0
// Deferred frees of the caching policy: events at free time, per-stream order, reuse of events, private pools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/allocator_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::testing::Call;
using assay::testing::expect_consistent;
using assay::testing::kMiB;
using assay::testing::Rig;

TEST(AllocatorStreams, ABlockUsedElsewhereWaitsForThatStream) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto block = rig.take(12 * kMiB);
  rig.use(block, other);
  rig.use(block, other);       // once is enough
  rig.use(block, rig.stream);  // its own stream needs no event
  EXPECT_EQ(rig.device.calls(Call::event_record), 0u) << "nothing is recorded before the free";
  rig.give(block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 1u);
  EXPECT_NE(rig.take(12 * kMiB), block);
  rig.device.finish(other);
  EXPECT_EQ(rig.take(12 * kMiB), block) << "polled by the next allocation";
  EXPECT_EQ(rig.device.calls(Call::event_synchronize), 0u);
  expect_consistent(*rig.caching);
}

TEST(AllocatorStreams, EveryForeignStreamMustHavePassed) {
  Rig rig;
  auto* second = rig.device.new_stream();
  auto* third = rig.device.new_stream();
  const auto block = rig.take(12 * kMiB);
  rig.use(block, second);
  rig.use(block, third);
  rig.give(block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 2u);
  rig.device.finish(third);
  EXPECT_NE(rig.take(12 * kMiB), block);
  rig.device.finish(second);
  EXPECT_EQ(rig.take(12 * kMiB), block);
}

TEST(AllocatorStreams, OneStreamsFreesCompleteInTheirOrder) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto a = rig.take(12 * kMiB);
  const auto b = rig.take(12 * kMiB);
  for (const auto block : {a, b}) {
    rig.use(block, other);
    rig.give(block);
  }
  const auto queries = rig.device.calls(Call::event_query);
  EXPECT_NE(rig.take(16 * kMiB), a);
  EXPECT_EQ(rig.device.calls(Call::event_query), queries + 1) << "the front of the queue answers for the rest";
  rig.device.finish_one(other);
  EXPECT_EQ(rig.take(12 * kMiB), a);
  rig.device.finish_one(other);
  EXPECT_EQ(rig.take(12 * kMiB), b);
}

TEST(AllocatorStreams, PendingBlocksAreNoNeighboursToJoin) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto a = rig.take(kMiB / 2);
  const auto b = rig.take(kMiB / 2);
  rig.use(a, other);
  rig.give(a);
  rig.give(b);
  EXPECT_EQ(rig.caching->snapshot().front().blocks.size(), 2u);
  const auto twice = rig.caching->deallocate(reinterpret_cast<void*>(a));
  ASSERT_FALSE(twice) << "a pending block is no longer the caller's";
  EXPECT_EQ(twice.error().code, ErrorCode::usage);
  EXPECT_FALSE(rig.caching->record_stream(reinterpret_cast<void*>(a), other));
  rig.device.finish(other);
  ASSERT_TRUE(rig.caching->process_events());
  EXPECT_EQ(rig.caching->snapshot().front().blocks.size(), 1u);
}

TEST(AllocatorStreams, EventsAreReused) {
  Rig rig;
  auto* other = rig.device.new_stream();
  for (int i = 0; i < 50; ++i) {
    const auto block = rig.take(4096);
    rig.use(block, other);
    rig.give(block);
    rig.device.finish(other);
  }
  EXPECT_EQ(rig.device.calls(Call::event_create), 1u);
  EXPECT_EQ(rig.device.calls(Call::event_record), 50u);
  rig.caching.reset();
  EXPECT_EQ(rig.device.events(), 0u);
  EXPECT_EQ(rig.device.held_bytes(), 0u);
}

TEST(AllocatorStreams, TheUseOfOneLifeDoesNotBurdenTheNext) {
  Rig rig;
  auto* other = rig.device.new_stream();
  auto block = rig.take(4096);
  rig.use(block, other);
  rig.give(block);
  rig.device.finish(other);
  block = rig.take(4096);
  rig.give(block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 1u);
}

TEST(AllocatorStreams, AFailedEventLeavesTheBlockLive) {
  for (const Call call : {Call::event_create, Call::event_record}) {
    for (const std::size_t nth : {1u, 2u}) {
      Rig rig;
      auto* second = rig.device.new_stream();
      auto* third = rig.device.new_stream();
      const auto block = rig.take(4096);
      rig.use(block, second);
      rig.use(block, third);
      const auto before = rig.stats();
      rig.device.fail(call, nth, ASSAY_DEVICE_LOST);
      const auto freed = rig.caching->deallocate(reinterpret_cast<void*>(block));
      ASSERT_FALSE(freed);
      EXPECT_EQ(freed.error().code, ErrorCode::fault);
      EXPECT_EQ(rig.stats(), before);
      expect_consistent(*rig.caching);
      rig.give(block);  // and it can be tried again, with both streams
      rig.device.finish(second);
      EXPECT_NE(rig.take(4096), block);
      rig.device.finish(third);
      EXPECT_EQ(rig.take(4096), block);
    }
  }
}

TEST(AllocatorStreams, AFaultedStreamIsReportedByTheNextAllocation) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto block = rig.take(4096);
  rig.use(block, other);
  rig.give(block);
  rig.device.fail(Call::event_query, 1, ASSAY_KERNEL_FAULT);
  const auto refused = rig.caching->allocate(4096, rig.stream, assay::testing::Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::fault);
  expect_consistent(*rig.caching);
  EXPECT_EQ(rig.stats().active[0].current, 1);
}

// ---- private pools ----

TEST(AllocatorPools, AStreamUnderCaptureIsServedFromItsOwnPool) {
  Rig rig;
  auto* captured = rig.device.new_stream();
  const auto outside = rig.take_on(captured, 12 * kMiB);
  rig.give(outside);
  ASSERT_TRUE(rig.caching->begin_pool(7, [captured](assay_stream* stream) { return stream == captured; }));
  const auto inside = rig.take_on(captured, 12 * kMiB);
  EXPECT_NE(inside, outside);
  const auto elsewhere = rig.take(512);
  ASSERT_TRUE(rig.caching->end_pool(7));
  for (const auto& segment : rig.caching->snapshot()) {
    const bool is_private = inside == segment.address;
    EXPECT_EQ(segment.pool_id, is_private ? 7u : 0u);
  }
  rig.give(inside);
  EXPECT_EQ(rig.take_on(captured, 12 * kMiB), outside) << "after the end the default pool serves again";
  rig.give(elsewhere);
  expect_consistent(*rig.caching);
}

TEST(AllocatorPools, MemoryReturnsOnlyAfterTheLastRelease) {
  Rig rig;
  const auto all = [](assay_stream*) { return true; };
  ASSERT_TRUE(rig.caching->begin_pool(7, all));
  const auto block = rig.take(12 * kMiB);
  ASSERT_TRUE(rig.caching->end_pool(7));
  ASSERT_TRUE(rig.caching->begin_pool(7, all));  // a second user
  ASSERT_TRUE(rig.caching->end_pool(7));
  rig.give(block);
  ASSERT_TRUE(rig.caching->release_pool(7));
  ASSERT_TRUE(rig.caching->empty_cache());
  EXPECT_EQ(rig.device.held_bytes(), 12 * kMiB);
  ASSERT_TRUE(rig.caching->release_pool(7));
  ASSERT_TRUE(rig.caching->empty_cache());
  EXPECT_EQ(rig.device.held_bytes(), 0u);
  EXPECT_FALSE(rig.caching->release_pool(7)) << "the pool is gone";
}

TEST(AllocatorPools, NothingReturnsToTheDeviceDuringACapture) {
  Rig rig("per_process_memory_fraction:1,garbage_collection_threshold:0.1", 64 * kMiB);
  rig.give(rig.take(32 * kMiB));
  ASSERT_TRUE(rig.caching->begin_pool(1, [](assay_stream*) { return true; }));
  const auto emptied = rig.caching->empty_cache();
  ASSERT_FALSE(emptied);
  EXPECT_EQ(emptied.error().code, ErrorCode::usage);
  const auto refused = rig.caching->allocate(40 * kMiB, rig.stream, assay::testing::Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, ::testing::HasSubstr("private pool"));
  EXPECT_EQ(rig.device.calls(Call::free), 0u);
  EXPECT_EQ(rig.stats().num_ooms, 1);
  EXPECT_EQ(rig.stats().num_alloc_retries, 0);
  ASSERT_TRUE(rig.caching->end_pool(1));
  EXPECT_NE(rig.take(40 * kMiB), 0u);
}

TEST(AllocatorPools, FreesWithForeignStreamsAreHeldBackUnrecorded) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto block = rig.take(12 * kMiB);
  rig.use(block, other);
  ASSERT_TRUE(rig.caching->begin_pool(1, [other](assay_stream* stream) { return stream == other; }));
  rig.give(block);
  EXPECT_NE(rig.take(12 * kMiB), block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 0u);
  expect_consistent(*rig.caching);
  ASSERT_TRUE(rig.caching->end_pool(1));
  EXPECT_NE(rig.take(12 * kMiB), block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 1u);
  rig.device.finish(other);
  EXPECT_EQ(rig.take(12 * kMiB), block);
}

TEST(AllocatorPools, WrongCallsAreUsageErrors) {
  Rig rig;
  const auto all = [](assay_stream*) { return true; };
  EXPECT_FALSE(rig.caching->begin_pool(0, all));
  EXPECT_FALSE(rig.caching->end_pool(3));
  EXPECT_FALSE(rig.caching->release_pool(3));
  ASSERT_TRUE(rig.caching->begin_pool(3, all));
  EXPECT_FALSE(rig.caching->begin_pool(3, all));
}

}  // namespace
