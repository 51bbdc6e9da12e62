// SPDX-License-Identifier: Apache-2.0
// Deferred frees of the caching policy: events at free time, per-stream order, reuse of events.
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

}  // namespace
