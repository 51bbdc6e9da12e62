// SPDX-License-Identifier: Apache-2.0
// Every statistic of the caching policy at the moments it moves; each expectation is worked out by hand.
#include <gtest/gtest.h>

#include "tests/support/allocator_rig.hpp"

namespace {

using assay::allocator::Stat;
using assay::allocator::Statistics;
using assay::testing::Category;
using assay::testing::expect_consistent;
using assay::testing::kMiB;
using assay::testing::Rig;

constexpr auto M = static_cast<std::int64_t>(kMiB);

Stat stat(std::int64_t current, std::int64_t peak, std::int64_t allocated, std::int64_t freed) {
  return {current, peak, allocated, freed};
}

TEST(AllocatorStatistics, AnAllocationCountsEverythingAtOnce) {
  Rig rig;
  rig.take(1000);
  const Statistics s = rig.stats();
  for (const std::size_t i : {0u, 1u}) {  // all and small_pool
    EXPECT_EQ(s.allocation[i], stat(1, 1, 1, 0));
    EXPECT_EQ(s.active[i], stat(1, 1, 1, 0));
    EXPECT_EQ(s.segment[i], stat(1, 1, 1, 0));
    EXPECT_EQ(s.requested_bytes[i], stat(1000, 1000, 1000, 0));
    EXPECT_EQ(s.allocated_bytes[i], stat(1024, 1024, 1024, 0));
    EXPECT_EQ(s.active_bytes[i], stat(1024, 1024, 1024, 0));
    EXPECT_EQ(s.reserved_bytes[i], stat(2 * M, 2 * M, 2 * M, 0));
    EXPECT_EQ(s.inactive_split[i], stat(1, 1, 1, 0));
    EXPECT_EQ(s.inactive_split_bytes[i], stat(2 * M - 1024, 2 * M - 1024, 2 * M - 1024, 0));
  }
  for (const auto* array : {&s.allocation, &s.active, &s.segment, &s.requested_bytes, &s.allocated_bytes,
                            &s.active_bytes, &s.reserved_bytes, &s.inactive_split, &s.inactive_split_bytes})
    EXPECT_EQ((*array)[2], Stat{});
  EXPECT_EQ(s.num_device_alloc, 1);
  EXPECT_EQ(s.num_device_free, 0);
  EXPECT_EQ(s.max_split_size, -1);
  EXPECT_EQ(s.oversize_allocations, Stat{});
}

TEST(AllocatorStatistics, UnsplitSlackIsAllocatedButNotRequested) {
  Rig rig;
  const auto block = rig.take(11 * kMiB);  // 12 MiB segment, 1 MiB of slack stays in the block
  Statistics s = rig.stats();
  EXPECT_EQ(s.requested_bytes[2].current, 11 * M);
  EXPECT_EQ(s.allocated_bytes[2].current, 12 * M);
  EXPECT_EQ(s.inactive_split[0], Stat{});
  rig.give(block);
  s = rig.stats();
  EXPECT_EQ(s.requested_bytes[2], stat(0, 11 * M, 11 * M, 11 * M));
  EXPECT_EQ(s.allocated_bytes[2], stat(0, 12 * M, 12 * M, 12 * M));
  EXPECT_EQ(s.reserved_bytes[2], stat(12 * M, 12 * M, 12 * M, 0));
  EXPECT_EQ(s.inactive_split[0], Stat{}) << "a whole free segment is no piece";
}

TEST(AllocatorStatistics, PiecesOfAPartlyUsedSegment) {
  Rig rig;
  const auto a = rig.take(2 * kMiB);
  const auto b = rig.take(3 * kMiB);
  const auto c = rig.take(4 * kMiB);
  Statistics s = rig.stats();
  EXPECT_EQ(s.inactive_split[2].current, 1);
  // 18 after the first; the shrinks of 3 and 4 count as freed.
  EXPECT_EQ(s.inactive_split_bytes[2], stat(11 * M, 18 * M, 18 * M, 7 * M));
  rig.give(a);
  rig.give(c);  // joins the rest behind it
  s = rig.stats();
  EXPECT_EQ(s.inactive_split[2].current, 2);
  EXPECT_EQ(s.inactive_split_bytes[2].current, 17 * M);
  rig.give(b);  // one whole free segment
  s = rig.stats();
  EXPECT_EQ(s.inactive_split[2].current, 0);
  EXPECT_EQ(s.inactive_split_bytes[2].current, 0);
  EXPECT_EQ(s.inactive_split[2].peak, 2);
  EXPECT_EQ(s.inactive_split_bytes[2].peak, 18 * M);
  EXPECT_EQ(s.segment[2].current, 1);
}

TEST(AllocatorStatistics, APendingFreeStaysActiveAndRequested) {
  Rig rig;
  auto* other = rig.device.new_stream();
  const auto block = rig.take(3000, Category::kv);
  rig.use(block, other);
  rig.give(block);
  Statistics s = rig.stats();
  EXPECT_EQ(s.allocation[1], stat(0, 1, 1, 1));
  EXPECT_EQ(s.allocated_bytes[1], stat(0, 3072, 3072, 3072));
  EXPECT_EQ(s.active[1], stat(1, 1, 1, 0));
  EXPECT_EQ(s.active_bytes[1], stat(3072, 3072, 3072, 0));
  EXPECT_EQ(s.requested_bytes[1], stat(3000, 3000, 3000, 0)) << "above allocated_bytes while a free is pending";
  const auto& kv = s.categories[static_cast<std::size_t>(Category::kv)];
  EXPECT_EQ(kv.allocated_bytes, stat(0, 3072, 3072, 3072));
  EXPECT_EQ(kv.active_bytes, stat(3072, 3072, 3072, 0));
  EXPECT_EQ(kv.requested_bytes, stat(3000, 3000, 3000, 0));
  rig.device.finish(other);
  ASSERT_TRUE(rig.caching->process_events());
  s = rig.stats();
  EXPECT_EQ(s.active[1], stat(0, 1, 1, 1));
  EXPECT_EQ(s.active_bytes[1], stat(0, 3072, 3072, 3072));
  EXPECT_EQ(s.requested_bytes[1], stat(0, 3000, 3000, 3000));
}

TEST(AllocatorStatistics, CategoriesAddUpToTheTotals) {
  Rig rig;
  const auto weights = rig.take(12 * kMiB, Category::weights);
  rig.take(700, Category::kv);
  rig.take(5 * kMiB, Category::activation);
  Statistics s = rig.stats();
  const auto of = [&s](Category category) { return s.categories[static_cast<std::size_t>(category)]; };
  EXPECT_EQ(of(Category::weights).requested_bytes.current, 12 * M);
  EXPECT_EQ(of(Category::kv).requested_bytes.current, 700);
  EXPECT_EQ(of(Category::kv).allocated_bytes.current, 1024);
  EXPECT_EQ(of(Category::activation).active_bytes.current, 5 * M);
  EXPECT_EQ(of(Category::output).active_bytes, Stat{});
  rig.give(weights);
  s = rig.stats();
  EXPECT_EQ(of(Category::weights).requested_bytes, stat(0, 12 * M, 12 * M, 12 * M));
  rig.take(12 * kMiB, Category::output);  // the same block under another name
  s = rig.stats();
  EXPECT_EQ(of(Category::output).allocated_bytes, stat(12 * M, 12 * M, 12 * M, 0));
  EXPECT_EQ(of(Category::weights).allocated_bytes.current, 0);
}

TEST(AllocatorStatistics, OversizeIsCountedFromTheSplitLimitOn) {
  Rig rig("max_split_size_mb:32");
  EXPECT_EQ(rig.stats().max_split_size, 32 * M);
  const auto below = rig.take(30 * kMiB);
  EXPECT_EQ(rig.stats().oversize_allocations, Stat{});
  const auto exact = rig.take(32 * kMiB);
  Statistics s = rig.stats();
  EXPECT_EQ(s.oversize_allocations, stat(1, 1, 1, 0));
  EXPECT_EQ(s.oversize_segments, stat(1, 1, 1, 0));
  rig.give(exact);
  s = rig.stats();
  EXPECT_EQ(s.oversize_allocations, stat(0, 1, 1, 1));
  EXPECT_EQ(s.oversize_segments, stat(1, 1, 1, 0)) << "the segment is still there";
  rig.give(below);
  ASSERT_TRUE(rig.caching->empty_cache());
  EXPECT_EQ(rig.stats().oversize_segments, stat(0, 1, 1, 1));
}

TEST(AllocatorStatistics, EmptyCacheGivesBackWholeSegmentsOnly) {
  Rig rig;
  const auto small = rig.take(512);
  const auto large = rig.take(12 * kMiB);
  rig.take(2 * kMiB);  // keeps its 20 MiB segment
  rig.give(small);
  rig.give(large);
  ASSERT_TRUE(rig.caching->empty_cache());
  const Statistics s = rig.stats();
  EXPECT_EQ(s.segment[0], stat(1, 3, 3, 2));
  EXPECT_EQ(s.reserved_bytes[0], stat(20 * M, 34 * M, 34 * M, 14 * M));
  EXPECT_EQ(s.reserved_bytes[1], stat(0, 2 * M, 2 * M, 2 * M));
  EXPECT_EQ(s.num_device_free, 2);
  EXPECT_EQ(s.num_sync_all_streams, 1);
  EXPECT_EQ(rig.device.held_bytes(), 20 * kMiB);
  EXPECT_EQ(rig.device.freed_addresses(), (std::vector<std::uintptr_t>{large, small})) << "large segments first";
}

TEST(AllocatorStatistics, AResetPeakIsWhatIsLiveNotZero) {
  Rig rig;
  const auto a = rig.take(12 * kMiB, Category::weights);
  const auto b = rig.take(14 * kMiB, Category::weights);
  rig.give(b);
  EXPECT_EQ(rig.stats().allocated_bytes[0].peak, 26 * M);
  rig.caching->reset_peaks();
  Statistics s = rig.stats();
  EXPECT_EQ(s.allocated_bytes[0], stat(12 * M, 12 * M, 26 * M, 14 * M));
  EXPECT_EQ(s.reserved_bytes[0], stat(26 * M, 26 * M, 26 * M, 0));
  EXPECT_EQ(s.segment[2].peak, 2);
  EXPECT_EQ(s.categories[0].allocated_bytes.peak, 12 * M);
  rig.give(a);
  EXPECT_EQ(rig.stats().allocated_bytes[0].peak, 12 * M);
}

TEST(AllocatorStatistics, ResetAccumulatedKeepsWhatIsCurrent) {
  Rig rig("max_split_size_mb:32", 40 * kMiB);
  const auto a = rig.take(32 * kMiB, Category::inputs);
  EXPECT_FALSE(rig.caching->allocate(16 * kMiB, rig.stream, Category::inputs));
  Statistics s = rig.stats();
  EXPECT_EQ(s.num_ooms, 1);
  EXPECT_EQ(s.num_alloc_retries, 1);
  rig.caching->reset_accumulated();
  s = rig.stats();
  EXPECT_EQ(s.allocated_bytes[0], stat(32 * M, 32 * M, 0, 0));
  EXPECT_EQ(s.oversize_allocations, stat(1, 1, 0, 0));
  EXPECT_EQ(s.categories[1].requested_bytes, stat(32 * M, 32 * M, 0, 0));
  EXPECT_EQ(s.num_ooms + s.num_alloc_retries + s.num_sync_all_streams + s.num_device_alloc + s.num_device_free, 0);
  EXPECT_EQ(s.max_split_size, 32 * M) << "a setting, not a count";
  rig.give(a);
  EXPECT_EQ(rig.stats().allocated_bytes[0], stat(0, 32 * M, 0, 32 * M)) << "freed exceeds allocated after a reset";
}

}  // namespace
