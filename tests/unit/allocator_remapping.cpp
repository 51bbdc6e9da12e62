// SPDX-License-Identifier: Apache-2.0
// The remapping policy, rule by rule; the expected figures are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/allocator/size_bins.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::kMiB;
using assay::allocator::SizeBins;
using assay::testing::Call;
using assay::testing::Category;
using assay::testing::expect_consistent;
using assay::testing::FakeDevice;
using assay::testing::PolicyRig;
using ::testing::HasSubstr;

struct Item {
  std::size_t bytes = 0;
  Item* bin_previous = nullptr;
  Item* bin_next = nullptr;
};

TEST(SizeBins, FindsTheSmallestSizeHeldAtOrAboveTheRequest) {
  SizeBins<Item> bins;
  EXPECT_EQ(bins.find(512), nullptr);
  Item small{1024};
  Item same{1024};
  Item far{512 * 200};
  Item largest{kMiB};
  for (Item* item : {&small, &same, &far, &largest}) bins.insert(*item);
  EXPECT_EQ(bins.find(512), &same) << "the last one in is the first one out";
  bins.erase(same);
  EXPECT_EQ(bins.find(1024), &small);
  bins.erase(small);
  EXPECT_EQ(bins.find(1024), &far) << "in another word of the bitmap";
  EXPECT_EQ(bins.find(512 * 200), &far);
  EXPECT_EQ(bins.find(512 * 201), &largest);
  bins.erase(largest);
  EXPECT_EQ(bins.find(kMiB), nullptr);
  bins.erase(far);
  EXPECT_EQ(bins.find(512), nullptr);
}

TEST(SizeBins, ErasesFromTheMiddleOfABin) {
  SizeBins<Item> bins;
  Item items[3] = {{512}, {512}, {512}};
  for (Item& item : items) bins.insert(item);
  bins.erase(items[1]);
  EXPECT_EQ(bins.find(512), &items[2]);
  bins.erase(items[2]);
  EXPECT_EQ(bins.find(512), &items[0]);
  bins.erase(items[0]);
  EXPECT_EQ(bins.find(512), nullptr);
}

TEST(AllocatorRemapping, OneMappingForAGrowthInMultiplesOf20MiB) {
  PolicyRig rig("remapping");
  const auto first = rig.take(5 * kMiB);
  EXPECT_EQ(rig.reserved(), 20 * kMiB);
  EXPECT_EQ(rig.take(41 * kMiB), first + 5 * kMiB) << "the free tail of 15 MiB grows by 26, that is 40";
  EXPECT_EQ(rig.reserved(), 60 * kMiB);
  EXPECT_EQ(rig.maps(), 2u);
  EXPECT_EQ(rig.stats().num_device_alloc, 2);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorRemapping, AGrowthFrom300MiBOnIsExact) {
  PolicyRig rig("remapping");
  rig.take(301 * kMiB);
  EXPECT_EQ(rig.reserved(), 302 * kMiB) << "whole granules of 2 MiB";
}

TEST(AllocatorRemapping, BlocksUpTo1MiBComeFromTheHighEnd) {
  PolicyRig rig("remapping");
  const auto large = rig.take(2 * kMiB);
  const auto small = rig.take(kMiB);
  EXPECT_EQ(small, large + 19 * kMiB);
  EXPECT_EQ(rig.take(512), small - 512);
  EXPECT_EQ(rig.take(2 * kMiB), large + 2 * kMiB);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorRemapping, ThePieceThatCanGrowIsTakenLast) {
  PolicyRig rig("remapping");
  const auto hole = rig.take(9 * kMiB);
  rig.take(6 * kMiB);  // the tail has 5 MiB
  rig.give(hole);
  EXPECT_EQ(rig.take(4 * kMiB), hole);
}

TEST(AllocatorRemapping, IdleMemoryIsMovedWhereItIsMissing) {
  PolicyRig rig("remapping");
  const auto idle = rig.take(40 * kMiB);
  const auto kept = rig.take(20 * kMiB);
  rig.give(idle);
  // 60 MiB reserved, 20 active. 60 more would be a peak of 120 against 20 + 20/16 active: the 40 go first.
  EXPECT_EQ(rig.take(60 * kMiB), kept + 20 * kMiB);
  EXPECT_EQ(rig.reserved(), 80 * kMiB);
  EXPECT_EQ(rig.unmaps(), 1u);
  EXPECT_EQ(rig.maps(), 3u);
  EXPECT_EQ(rig.device.calls(Call::synchronize), 1u) << "work of the stream may still use what was freed";
  expect_consistent(*rig.allocator);
  // The addresses left behind get memory again when that is the least.
  EXPECT_EQ(rig.take(40 * kMiB), idle);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorRemapping, NothingIsMovedWhileLittleIsFree) {
  PolicyRig rig("remapping");
  const auto idle = rig.take(20 * kMiB);
  for (int i = 0; i < 20; ++i) rig.take(20 * kMiB);
  rig.give(idle);
  rig.take(40 * kMiB);  // 460 against 400 active and 425 allowed: a growth of 40 without 20 idle would be 440
  EXPECT_EQ(rig.unmaps(), 1u);
  PolicyRig dense("remapping");
  const auto small = dense.take(20 * kMiB);
  for (int i = 0; i < 60; ++i) dense.take(20 * kMiB);
  dense.give(small);
  dense.take(40 * kMiB);  // 1260 against 1200 active and 1275 allowed
  EXPECT_EQ(dense.unmaps(), 0u);
}

TEST(AllocatorRemapping, ARefusalReturnsEveryStreamsIdleMemoryAndGrowsExactly) {
  PolicyRig rig("remapping", {}, 70 * kMiB);
  auto* other = rig.device.new_stream();
  rig.give(rig.take_on(other, 40 * kMiB));
  rig.take(62 * kMiB);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.reserved(), 62 * kMiB);
  expect_consistent(*rig.allocator);
  const auto refused = rig.allocator->allocate(10 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, HasSubstr("allocated 65011712 bytes, reserved 65011712 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("device free 8388608 bytes"));
  EXPECT_EQ(rig.stats().num_ooms, 1);
  EXPECT_NE(rig.take(8 * kMiB), 0u);
}

TEST(AllocatorRemapping, ABlockAnotherStreamUsesIsNotReusedBeforeItsEvent) {
  PolicyRig rig("remapping");
  auto* other = rig.device.new_stream();
  const auto block = rig.take(20 * kMiB);
  rig.use(block, other);
  rig.give(block);
  EXPECT_NE(rig.take(20 * kMiB), block);
  EXPECT_EQ(rig.stats().active_bytes[0].current, static_cast<std::int64_t>(40 * kMiB));
  rig.device.finish(other);
  EXPECT_EQ(rig.take(20 * kMiB), block);
  EXPECT_EQ(rig.device.calls(Call::event_synchronize), 0u);
}

TEST(AllocatorRemapping, ThePeakOfReservedIsThatOfAllStreamsTogether) {
  PolicyRig rig("remapping");
  auto* other = rig.device.new_stream();
  rig.give(rig.take(20 * kMiB));
  ASSERT_TRUE(rig.allocator->empty_cache());
  rig.take_on(other, 20 * kMiB);
  EXPECT_EQ(rig.stats().reserved_bytes[0].peak, static_cast<std::int64_t>(20 * kMiB));
}

TEST(AllocatorRemapping, WithoutMappingItIsUnsupported) {
  FakeDevice device(64 * kMiB);
  device.offer_mapping(false);
  const auto lacking = assay::allocator::make_allocator("remapping", "", device.table(), device.handle());
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, ErrorCode::unsupported);
}

}  // namespace
