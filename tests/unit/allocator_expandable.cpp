// SPDX-License-Identifier: Apache-2.0
// The expandable policy, rule by rule; the expected figures are computed by hand from pages of 2 and 20 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/policy_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::BlockState;
using assay::testing::Call;
using assay::testing::Category;
using assay::testing::expect_consistent;
using assay::testing::FakeDevice;
using assay::testing::kMiB;
using assay::testing::PolicyRig;
using ::testing::HasSubstr;

TEST(AllocatorExpandable, MapsPagesOf2And20MiBAtTheLowestAddress) {
  PolicyRig rig("expandable");
  const auto small = rig.take(512);
  EXPECT_EQ(rig.reserved(), 2 * kMiB);
  EXPECT_EQ(rig.take(kMiB), small + 512);
  const auto large = rig.take(5 * kMiB);
  EXPECT_EQ(rig.reserved(), 22 * kMiB);
  EXPECT_EQ(rig.maps(), 2u);
  EXPECT_EQ(rig.take(15 * kMiB), large + 5 * kMiB) << "the rest of the page, to the byte";
  EXPECT_EQ(rig.take(41 * kMiB), large + 20 * kMiB) << "three pages, behind the first";
  EXPECT_EQ(rig.reserved(), 82 * kMiB);
  EXPECT_EQ(rig.maps(), 5u);
  EXPECT_EQ(rig.device.calls(Call::malloc), 0u);
  EXPECT_EQ(rig.stats().num_device_alloc, 5);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorExpandable, AFreeTailGrowsInsteadOfANewSegment) {
  PolicyRig rig("expandable");
  const auto first = rig.take(12 * kMiB);
  EXPECT_EQ(rig.take(28 * kMiB), first + 12 * kMiB) << "8 MiB of the first page and one more";
  EXPECT_EQ(rig.reserved(), 40 * kMiB);
}

TEST(AllocatorExpandable, EveryRestOf512BytesIsSplitOff) {
  PolicyRig rig("expandable");
  const auto block = rig.take(20 * kMiB - 512);
  EXPECT_EQ(rig.stats().allocated_bytes[0].current, static_cast<std::int64_t>(20 * kMiB - 512));
  EXPECT_EQ(rig.take(2 * kMiB), block + 20 * kMiB - 512) << "512 bytes of the first page begin it";
}

TEST(AllocatorExpandable, TheBlockThatCanGrowIsTakenLast) {
  PolicyRig rig("expandable");
  const auto hole = rig.take(16 * kMiB);
  rig.take(12 * kMiB);
  rig.take(kMiB * 3);  // 31 of 40 MiB: the tail of 9 MiB is free
  rig.give(hole);
  EXPECT_EQ(rig.take(8 * kMiB), hole) << "the tail is the better fit by its bytes, but can grow";
  expect_consistent(*rig.allocator);
}

TEST(AllocatorExpandable, StreamsAndPoolsHaveRangesOfTheirOwn) {
  PolicyRig rig("expandable");
  auto* other = rig.device.new_stream();
  rig.give(rig.take(4 * kMiB));
  rig.take_on(other, 4 * kMiB);
  rig.take(512);
  EXPECT_EQ(rig.device.reservations(), 3u);
  EXPECT_EQ(rig.reserved(), 42 * kMiB);
  const auto segments = rig.allocator->snapshot();
  ASSERT_EQ(segments.size(), 3u);
  for (const auto& segment : segments) EXPECT_TRUE(segment.expandable);
}

TEST(AllocatorExpandable, StatisticsOfSegmentsAndSplitPiecesNeverMove) {
  PolicyRig rig("expandable");
  const auto block = rig.take(5 * kMiB);
  rig.take(5 * kMiB);
  rig.give(block);
  EXPECT_EQ(rig.stats().segment[0], assay::allocator::Stat{});
  EXPECT_EQ(rig.stats().inactive_split[0], assay::allocator::Stat{});
  EXPECT_EQ(rig.stats().inactive_split_bytes[0], assay::allocator::Stat{});
  EXPECT_EQ(rig.stats().reserved_bytes[0].peak, static_cast<std::int64_t>(20 * kMiB));
}

TEST(AllocatorExpandable, EmptyingUnmapsWholePagesInsideFreeBlocks) {
  PolicyRig rig("expandable");
  const auto low = rig.take(15 * kMiB);
  const auto wide = rig.take(50 * kMiB);  // 15 to 65 MiB: pages 20-40 and 40-60 lie inside
  const auto high = rig.take(10 * kMiB);
  EXPECT_EQ(rig.reserved(), 80 * kMiB);
  rig.give(wide);
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(rig.unmaps(), 2u);
  EXPECT_EQ(rig.reserved(), 40 * kMiB);
  EXPECT_EQ(rig.device.mapped_bytes(), 40 * kMiB);
  expect_consistent(*rig.allocator);
  const auto segments = rig.allocator->snapshot();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].total_bytes, 20 * kMiB);
  EXPECT_EQ(segments[1].address, low + 60 * kMiB);
  // 46 MiB fit into 5 free, 40 unmapped, 5 free: both pages come back, at the same place.
  EXPECT_EQ(rig.take(46 * kMiB), low + 15 * kMiB);
  EXPECT_EQ(rig.reserved(), 80 * kMiB);
  expect_consistent(*rig.allocator);
  rig.give(high);
}

TEST(AllocatorExpandable, AnEmptyRangeIsGivenBack) {
  PolicyRig rig("expandable");
  rig.give(rig.take(50 * kMiB));
  ASSERT_TRUE(rig.allocator->empty_cache());
  EXPECT_EQ(rig.device.reservations(), 0u);
  EXPECT_EQ(rig.device.held_bytes(), 0u);
  EXPECT_TRUE(rig.allocator->snapshot().empty());
  rig.take(50 * kMiB);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorExpandable, ARefusalUnmapsUnusedPagesAndTriesAgain) {
  PolicyRig rig("expandable", {}, 80 * kMiB);
  auto* other = rig.device.new_stream();
  const auto freed = rig.take_on(other, 40 * kMiB);
  rig.use(freed, rig.stream);
  rig.give(freed);
  rig.take(60 * kMiB);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.stats().num_sync_all_streams, 1);
  EXPECT_EQ(rig.stats().num_ooms, 0);
  EXPECT_EQ(rig.reserved(), 60 * kMiB);
  EXPECT_EQ(rig.device.calls(Call::event_synchronize), 1u);
  EXPECT_GE(rig.device.calls(Call::synchronize), 1u) << "unmapping does not wait by itself";
  expect_consistent(*rig.allocator);
}

TEST(AllocatorExpandable, OutOfMemoryNamesTheNumbers) {
  PolicyRig rig("expandable", {}, 64 * kMiB);
  rig.take(30 * kMiB);
  const auto refused = rig.allocator->allocate(41 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, HasSubstr("request of 42991616 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("allocated 31457280 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("reserved 41943040 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("largest free block 10485760 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("device free 25165824 bytes"));
  EXPECT_EQ(rig.stats().num_ooms, 1);
  expect_consistent(*rig.allocator);
  rig.take(30 * kMiB);  // 10 free and one page
}

TEST(AllocatorExpandable, AMapLimitIsPassedOnWithoutUnmapping) {
  PolicyRig rig("expandable");
  rig.give(rig.take(12 * kMiB));
  rig.device.fail(Call::vmm_map, 2, ASSAY_MAP_LIMIT);
  const auto refused = rig.allocator->allocate(60 * kMiB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::map_limit);
  EXPECT_EQ(rig.stats().num_ooms, 0);
  EXPECT_EQ(rig.stats().num_device_free, 0);
  EXPECT_EQ(rig.reserved(), 20 * kMiB) << "the page mapped before the limit was given back";
  EXPECT_EQ(rig.device.mapped_bytes(), 20 * kMiB);
  rig.take(60 * kMiB);
  expect_consistent(*rig.allocator);
}

TEST(AllocatorExpandable, PagesGrowWithTheOption) {
  PolicyRig rig("expandable", "expandable_segments:True,least_page_mb:32");
  rig.take(512);
  rig.take(5 * kMiB);
  EXPECT_EQ(rig.reserved(), 64 * kMiB);
  EXPECT_EQ(rig.maps(), 2u);
}

TEST(AllocatorExpandable, IsWhatCachingBecomesByItsOption) {
  PolicyRig rig("caching", "expandable_segments:True");
  EXPECT_EQ(rig.allocator->policy(), "expandable");
  EXPECT_EQ(rig.allocator->options(), "expandable_segments:True");
  FakeDevice device(kMiB * 64);
  const auto contrary =
      assay::allocator::make_allocator("expandable", "expandable_segments:False", device.table(), device.handle());
  ASSERT_FALSE(contrary);
  EXPECT_EQ(contrary.error().code, ErrorCode::usage);
  const auto inert =
      assay::allocator::make_allocator("expandable", "garbage_collection_threshold:0.5,per_process_memory_fraction:0.5",
                                       device.table(), device.handle());
  ASSERT_FALSE(inert);
  EXPECT_EQ(inert.error().code, ErrorCode::usage);
}

TEST(AllocatorExpandable, WithoutMappingItIsUnsupportedWithTheReason) {
  FakeDevice device(kMiB * 64);
  device.offer_mapping(false);
  const auto lacking = assay::allocator::make_allocator("expandable", "", device.table(), device.handle());
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, ErrorCode::unsupported);
  EXPECT_THAT(lacking.error().text, HasSubstr("no such entry"));
  // An attribute that promises it is not enough: the mapping itself is tried.
  device.offer_mapping(true);
  device.fail(Call::vmm_map, 1, ASSAY_UNSUPPORTED);
  const auto broken = assay::allocator::make_allocator("expandable", "", device.table(), device.handle());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::unsupported);
  EXPECT_EQ(device.held_bytes(), 0u);
  EXPECT_EQ(device.reservations(), 0u);
}

}  // namespace
