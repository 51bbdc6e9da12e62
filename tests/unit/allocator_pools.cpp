// SPDX-License-Identifier: Apache-2.0
// Private pools, as graph captures and users fill them, under every policy that keeps them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::MempoolId;
using assay::testing::Call;
using assay::testing::expect_consistent;
using assay::testing::kMiB;
using assay::testing::PolicyRig;

bool everything(assay_stream*) {
  return true;
}

class AllocatorPools : public ::testing::TestWithParam<const char*> {
 protected:
  // The pool the block lies in.
  static MempoolId pool_of(const PolicyRig& rig, std::uintptr_t address) {
    for (const auto& segment : rig.allocator->snapshot())
      if (address >= segment.address && address < segment.address + segment.total_bytes) return segment.id();
    ADD_FAILURE() << "in no segment";
    return {};
  }
  // Memory of all segments of one pool.
  static std::size_t reserved_by(const PolicyRig& rig, MempoolId id) {
    std::size_t bytes = 0;
    for (const auto& segment : rig.allocator->snapshot())
      if (segment.id() == id) bytes += segment.total_bytes;
    return bytes;
  }
};
INSTANTIATE_TEST_SUITE_P(Policies, AllocatorPools, ::testing::Values("caching", "expandable"));

TEST_P(AllocatorPools, AStreamUnderCaptureIsServedFromItsOwnPool) {
  PolicyRig rig(GetParam());
  auto* captured = rig.device.new_stream();
  const auto outside = rig.take_on(captured, 12 * kMiB);
  rig.give(outside);
  ASSERT_TRUE(rig.allocator->begin_pool({7, 0}, [captured](assay_stream* stream) { return stream == captured; }));
  const auto inside = rig.take_on(captured, 12 * kMiB);
  const auto small = rig.take_on(captured, 700);
  EXPECT_NE(inside, outside);
  const auto elsewhere = rig.take(512);
  ASSERT_TRUE(rig.allocator->end_pool({7, 0}));
  EXPECT_EQ(pool_of(rig, inside), (MempoolId{7, 0}));
  EXPECT_EQ(pool_of(rig, small), (MempoolId{7, 0}));
  EXPECT_EQ(pool_of(rig, elsewhere), MempoolId{});
  rig.give(inside);
  EXPECT_EQ(rig.take_on(captured, 12 * kMiB), outside) << "after the end the default pool serves again";
  for (const auto block : {small, elsewhere}) rig.give(block);
  expect_consistent(*rig.allocator);
}

TEST_P(AllocatorPools, BothNumbersOfAnIdTellPoolsApart) {
  PolicyRig rig(GetParam());
  ASSERT_TRUE(rig.allocator->begin_pool({3, 0}, everything));
  const auto of_a_graph = rig.take(4 * kMiB);
  ASSERT_TRUE(rig.allocator->end_pool({3, 0}));
  ASSERT_TRUE(rig.allocator->begin_pool({0, 3}, everything));
  const auto of_a_user = rig.take(4 * kMiB);
  ASSERT_TRUE(rig.allocator->end_pool({0, 3}));
  EXPECT_EQ(pool_of(rig, of_a_graph), (MempoolId{3, 0}));
  EXPECT_EQ(pool_of(rig, of_a_user), (MempoolId{0, 3}));
  EXPECT_GE(reserved_by(rig, {3, 0}), 4 * kMiB);
  EXPECT_EQ(reserved_by(rig, {3, 0}) + reserved_by(rig, {0, 3}), rig.reserved());
}

TEST_P(AllocatorPools, AFreeReturnsToThePoolItCameFrom) {
  PolicyRig rig(GetParam());
  ASSERT_TRUE(rig.allocator->begin_pool({7, 0}, everything));
  const auto block = rig.take(12 * kMiB);
  ASSERT_TRUE(rig.allocator->end_pool({7, 0}));
  rig.give(block);
  EXPECT_NE(rig.take(12 * kMiB), block) << "the default pool does not reach into a private one";
  ASSERT_TRUE(rig.allocator->begin_pool({7, 0}, everything));
  EXPECT_EQ(rig.take(12 * kMiB), block);
  ASSERT_TRUE(rig.allocator->end_pool({7, 0}));
  expect_consistent(*rig.allocator);
}

TEST_P(AllocatorPools, MemoryReturnsOnlyAfterTheLastRelease) {
  PolicyRig rig(GetParam());
  ASSERT_TRUE(rig.allocator->begin_pool({7, 0}, everything));
  const auto block = rig.take(20 * kMiB);
  ASSERT_TRUE(rig.allocator->end_pool({7, 0}));
  ASSERT_TRUE(rig.allocator->begin_pool({7, 0}, everything));  // a second user
  ASSERT_TRUE(rig.allocator->end_pool({7, 0}));
  rig.give(block);
  ASSERT_TRUE(rig.allocator->release_pool({7, 0}));
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(rig.device.held_bytes(), 20 * kMiB);
  ASSERT_TRUE(rig.allocator->release_pool({7, 0}));
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(rig.device.held_bytes(), 0u);
  EXPECT_FALSE(rig.allocator->release_pool({7, 0})) << "the pool is gone";
}

TEST_P(AllocatorPools, WhatLivesInAReleasedPoolStaysUntilItIsFreed) {
  PolicyRig rig(GetParam());
  ASSERT_TRUE(rig.allocator->begin_pool({0, 1}, everything));
  const auto block = rig.take(20 * kMiB);
  ASSERT_TRUE(rig.allocator->end_pool({0, 1}));
  ASSERT_TRUE(rig.allocator->release_pool({0, 1}));
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(pool_of(rig, block), (MempoolId{0, 1}));
  rig.give(block);
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(rig.device.held_bytes(), 0u);
  expect_consistent(*rig.allocator);
}

TEST_P(AllocatorPools, NothingReturnsToTheDeviceDuringACapture) {
  PolicyRig rig(GetParam(), "", 64 * kMiB);
  rig.give(rig.take(40 * kMiB));
  ASSERT_TRUE(rig.allocator->begin_pool({1, 0}, everything));
  const auto emptied = rig.allocator->empty_cache();
  ASSERT_FALSE(emptied);
  EXPECT_EQ(emptied.error().code, ErrorCode::usage);
  const auto refused = rig.allocator->allocate(40 * kMiB, rig.stream, assay::testing::Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, ::testing::HasSubstr("private pool"));
  EXPECT_EQ(rig.device.calls(Call::free), 0u);
  EXPECT_EQ(rig.stats().num_device_free, 0);
  EXPECT_EQ(rig.stats().num_ooms, 1);
  EXPECT_EQ(rig.stats().num_alloc_retries, 0);
  ASSERT_TRUE(rig.allocator->end_pool({1, 0}));
  EXPECT_NE(rig.take(40 * kMiB), 0u);
}

TEST(AllocatorPoolsOf, GarbageIsNotCollectedDuringACapture) {
  PolicyRig rig("caching", "per_process_memory_fraction:1,garbage_collection_threshold:0.1", 64 * kMiB);
  rig.give(rig.take(32 * kMiB));
  ASSERT_TRUE(rig.allocator->begin_pool({1, 0}, everything));
  rig.take(12 * kMiB);
  EXPECT_EQ(rig.device.calls(Call::free), 0u);
  ASSERT_TRUE(rig.allocator->end_pool({1, 0}));
  rig.take(40 * kMiB);
  EXPECT_EQ(rig.device.calls(Call::free), 1u);
}

TEST_P(AllocatorPools, FreesWithForeignStreamsAreHeldBackUnrecorded) {
  PolicyRig rig(GetParam());
  auto* other = rig.device.new_stream();
  const auto block = rig.take(12 * kMiB);
  rig.use(block, other);
  ASSERT_TRUE(rig.allocator->begin_pool({1, 0}, [other](assay_stream* stream) { return stream == other; }));
  rig.give(block);
  EXPECT_NE(rig.take(12 * kMiB), block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 0u);
  expect_consistent(*rig.allocator);
  ASSERT_TRUE(rig.allocator->end_pool({1, 0}));
  EXPECT_NE(rig.take(12 * kMiB), block);
  EXPECT_EQ(rig.device.calls(Call::event_record), 1u);
  rig.device.finish(other);
  EXPECT_EQ(rig.take(12 * kMiB), block);
}

TEST_P(AllocatorPools, WrongCallsAreUsageErrors) {
  PolicyRig rig(GetParam());
  EXPECT_FALSE(rig.allocator->begin_pool({}, everything));
  EXPECT_FALSE(rig.allocator->end_pool({3, 0}));
  EXPECT_FALSE(rig.allocator->release_pool({3, 0}));
  ASSERT_TRUE(rig.allocator->begin_pool({3, 0}, everything));
  const auto twice = rig.allocator->begin_pool({3, 0}, everything);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::usage);
  EXPECT_THAT(twice.error().text, ::testing::HasSubstr("(3, 0)"));
}

TEST(AllocatorPoolsOf, APolicyWithoutPoolsSaysSo) {
  for (const char* policy : {"direct", "native", "remapping"}) {
    PolicyRig rig(policy);
    for (const auto& answer : {rig.allocator->begin_pool({1, 0}, everything), rig.allocator->end_pool({1, 0}),
                               rig.allocator->release_pool({1, 0})}) {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().code, ErrorCode::unsupported);
      EXPECT_THAT(answer.error().text, ::testing::HasSubstr(policy));
    }
  }
}

}  // namespace
