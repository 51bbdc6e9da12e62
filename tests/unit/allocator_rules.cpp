// SPDX-License-Identifier: Apache-2.0
// The caching policy's rules of size and place: rounding, pools, segments, best fit, splitting, coalescing.
#include <gtest/gtest.h>

#include "tests/support/allocator_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::BlockState;
using assay::allocator::Options;
using assay::allocator::parse_options;
using assay::allocator::round_request;
using assay::allocator::segment_bytes;
using assay::allocator::should_split;
using assay::testing::expect_consistent;
using assay::testing::kMiB;
using assay::testing::Rig;

TEST(AllocatorRules, RoundsToMultiplesOf512) {
  const Options options;
  EXPECT_EQ(round_request(options, 1), 512u);
  EXPECT_EQ(round_request(options, 511), 512u);
  EXPECT_EQ(round_request(options, 512), 512u);
  EXPECT_EQ(round_request(options, 513), 1024u);
  EXPECT_EQ(round_request(options, kMiB + 1), kMiB + 512);
}

TEST(AllocatorRules, RoundsToDivisionsOfPowersOfTwo) {
  const Options four = *parse_options("roundup_power2_divisions:4");
  EXPECT_EQ(round_request(four, 1200), 1536u);  // up to 512 * 4 the plain rule holds
  EXPECT_EQ(round_request(four, 2048), 2048u);
  EXPECT_EQ(round_request(four, 2049), 2560u);            // 2048 + 2048/4
  EXPECT_EQ(round_request(four, 1200 * 1024), 1310720u);  // 1 MiB + 1/4 MiB
  EXPECT_EQ(round_request(four, 7 * kMiB), 7 * kMiB);
  EXPECT_EQ(round_request(four, 7 * kMiB + 1), 8 * kMiB);
  EXPECT_EQ(round_request(four, 8 * kMiB), 8 * kMiB);
  const Options one = *parse_options("roundup_power2_divisions:1");
  EXPECT_EQ(round_request(one, 2049), 2560u);  // one division is none
  const Options listed = *parse_options("roundup_power2_divisions:[1:8,2:2,4:0]");
  EXPECT_EQ(round_request(listed, kMiB + 1), kMiB + kMiB / 8);
  EXPECT_EQ(round_request(listed, 2 * kMiB + 1), 3 * kMiB);
  EXPECT_EQ(round_request(listed, 4 * kMiB + 1), 4 * kMiB + 512);
  EXPECT_EQ(round_request(listed, std::size_t{200} << 30), std::size_t{200} << 30);
}

TEST(AllocatorRules, SegmentSizesByRequest) {
  const Options options;
  EXPECT_EQ(segment_bytes(options, 512), 2 * kMiB);
  EXPECT_EQ(segment_bytes(options, kMiB), 2 * kMiB);
  EXPECT_EQ(segment_bytes(options, kMiB + 512), 20 * kMiB);
  EXPECT_EQ(segment_bytes(options, 10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(segment_bytes(options, 10 * kMiB), 10 * kMiB);
  EXPECT_EQ(segment_bytes(options, 11 * kMiB + 512), 12 * kMiB);
  EXPECT_EQ(segment_bytes(*parse_options("large_segment_size_mb:12"), 5 * kMiB), 12 * kMiB);
}

TEST(AllocatorRules, SplitsStrictly) {
  const Options options;
  EXPECT_TRUE(should_split(options, true, 1024, 512));
  EXPECT_FALSE(should_split(options, true, 1024, 1024));
  EXPECT_FALSE(should_split(options, false, 21 * kMiB, 20 * kMiB));  // exactly 1 MiB is left
  EXPECT_TRUE(should_split(options, false, 21 * kMiB + 512, 20 * kMiB));
  const Options limited = *parse_options("max_split_size_mb:32");
  EXPECT_TRUE(should_split(limited, false, 64 * kMiB, 32 * kMiB - 512));
  EXPECT_FALSE(should_split(limited, false, 64 * kMiB, 32 * kMiB));
}

TEST(AllocatorRules, ZeroBytesTouchNothing) {
  Rig rig;
  EXPECT_EQ(rig.take(0), 0u);
  rig.give(0);
  EXPECT_EQ(rig.device_allocs(), 0u);
  EXPECT_EQ(rig.stats(), assay::allocator::Statistics{});
}

TEST(AllocatorRules, SmallAndLargeRequestsHaveTheirOwnSegments) {
  Rig rig;
  const auto small = rig.take(kMiB);
  const auto large = rig.take(kMiB + 1);
  const auto exact = rig.take(21 * kMiB);
  EXPECT_EQ(rig.device.malloc_sizes(), (std::vector<std::size_t>{2 * kMiB, 20 * kMiB, 22 * kMiB}));
  const auto segments = rig.caching->snapshot();
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_TRUE(segments[0].small_pool);
  EXPECT_FALSE(segments[1].small_pool);
  EXPECT_EQ(segments[0].blocks[0].address, small);
  EXPECT_EQ(segments[1].blocks[0].address, large);
  EXPECT_EQ(segments[2].blocks[0].address, exact);
  EXPECT_EQ(segments[2].blocks[0].bytes, 22 * kMiB);  // 1 MiB of slack is not split off
  EXPECT_EQ(segments[2].blocks.size(), 1u);
  expect_consistent(*rig.caching);
}

TEST(AllocatorRules, TheLowPartIsHandedOut) {
  Rig rig;
  const auto first = rig.take(512);
  const auto second = rig.take(1024);
  const auto third = rig.take(512);
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(third, first + 1536);
  EXPECT_EQ(rig.device_allocs(), 1u);
}

TEST(AllocatorRules, BestFitWithinTheStreamTiesByAddress) {
  Rig rig;
  // Holes of 4, 2 and 2 KiB in address order, with live blocks between them.
  const auto a = rig.take(4096);
  rig.take(512);
  const auto b = rig.take(2048);
  rig.take(512);
  const auto c = rig.take(2048);
  rig.take(512);
  rig.give(a);
  rig.give(c);
  rig.give(b);  // freed last: recency does not matter
  EXPECT_EQ(rig.take(1536), b);
  EXPECT_EQ(rig.take(1536), c);
  EXPECT_EQ(rig.take(1536), a);
}

TEST(AllocatorRules, TiesByCreationIgnoreTheDriversAddresses) {
  for (const bool creation : {false, true}) {
    Rig rig(creation ? "tie_break:creation" : "tie_break:address");
    rig.device.hand_out(0x2000000000);
    rig.device.hand_out(0x1000000000);
    const auto older = rig.take(12 * kMiB);
    const auto newer = rig.take(12 * kMiB);
    rig.give(older);
    rig.give(newer);
    EXPECT_EQ(rig.take(12 * kMiB), creation ? older : newer);
  }
}

TEST(AllocatorRules, FreeBlocksOfAnotherStreamAreNotTaken) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto first = rig.take(12 * kMiB);
  rig.give(first);
  EXPECT_NE(rig.take_on(other, 12 * kMiB), first);
  EXPECT_EQ(rig.device_allocs(), 2u);
  EXPECT_EQ(rig.take(12 * kMiB), first);
}

TEST(AllocatorRules, NeighboursJoinOnBothSidesAndNeverAcrossSegments) {
  Rig rig;
  const auto a = rig.take(kMiB / 2);
  const auto b = rig.take(kMiB / 2);
  const auto c = rig.take(kMiB / 2);
  const auto d = rig.take(kMiB / 2);  // the segment is full
  const auto e = rig.take(kMiB);      // begins the next one, which lies right behind in invented memory
  EXPECT_EQ(e, a + 2 * kMiB);
  rig.give(a);
  rig.give(c);
  rig.give(b);
  auto segments = rig.caching->snapshot();
  ASSERT_EQ(segments[0].blocks.size(), 2u);
  EXPECT_EQ(segments[0].blocks[0].bytes, 3 * kMiB / 2);
  rig.give(d);
  rig.give(e);
  segments = rig.caching->snapshot();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].blocks.size(), 1u);
  EXPECT_EQ(segments[1].blocks.size(), 1u);
  expect_consistent(*rig.caching);
}

TEST(AllocatorRules, OversizeBlocksAreKeptForOversizeRequests) {
  Rig rig("max_split_size_mb:32,max_non_split_rounding_mb:24");
  const auto big = rig.take(64 * kMiB);
  rig.give(big);
  EXPECT_NE(rig.take(30 * kMiB), big) << "a request below the limit may not take an oversize block";
  EXPECT_NE(rig.take(40 * kMiB), big) << "24 MiB larger is too large";
  EXPECT_EQ(rig.take(40 * kMiB + 1), big) << "less than 24 MiB larger is taken, whole";
  EXPECT_EQ(rig.caching->snapshot().front().blocks.size(), 1u);
  expect_consistent(*rig.caching);
}

TEST(AllocatorRules, WrongPointersAreUsageErrorsAndChangeNothing) {
  Rig rig;
  const auto block = rig.take(4096);
  const auto before = rig.stats();
  for (const std::uintptr_t wrong : {block + 512, std::uintptr_t{0x1234}}) {
    const auto freed = rig.caching->deallocate(reinterpret_cast<void*>(wrong));
    ASSERT_FALSE(freed);
    EXPECT_EQ(freed.error().code, ErrorCode::usage);
    const auto recorded = rig.caching->record_stream(reinterpret_cast<void*>(wrong), rig.stream);
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().code, ErrorCode::usage);
  }
  EXPECT_EQ(rig.stats(), before);
  rig.give(block);
  const auto twice = rig.caching->deallocate(reinterpret_cast<void*>(block));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::usage);
  expect_consistent(*rig.caching);
}

TEST(AllocatorRules, ARequestNoDeviceHoldsIsRefusedUnseen) {
  Rig rig;
  const auto refused = rig.caching->allocate(~std::size_t{0}, rig.stream, assay::testing::Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(rig.device_allocs(), 0u);
}

TEST(AllocatorRules, AdoptedSegmentsKeepTheirLiveBlocks) {
  Rig rig;
  const std::uintptr_t at = 0x40000000;
  rig.device.adopt(at, 20 * kMiB);
  assay::allocator::SegmentInfo segment;
  segment.address = at;
  segment.total_bytes = 20 * kMiB;
  segment.stream = rig.stream;
  segment.blocks.push_back({at + 4 * kMiB, 2 * kMiB, 2 * kMiB - 100, BlockState::active_allocated});
  segment.blocks.push_back({at + 8 * kMiB, 4 * kMiB, 4 * kMiB, BlockState::active_allocated});
  ASSERT_TRUE(rig.caching->adopt_segment(segment));
  expect_consistent(*rig.caching);
  ASSERT_EQ(rig.caching->snapshot().front().blocks.size(), 5u);
  EXPECT_EQ(rig.stats().allocated_bytes[0].current, static_cast<std::int64_t>(6 * kMiB));
  EXPECT_EQ(rig.take(2 * kMiB), at + 6 * kMiB) << "the smallest gap";
  rig.give(at + 4 * kMiB);
  EXPECT_EQ(rig.take(6 * kMiB), at) << "gap and block joined";
  segment.blocks.front().bytes = 5 * kMiB;
  EXPECT_FALSE(rig.caching->adopt_segment(segment));
  EXPECT_EQ(rig.device_allocs(), 0u);
}

}  // namespace
