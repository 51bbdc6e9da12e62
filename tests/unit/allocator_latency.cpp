// SPDX-License-Identifier: Apache-2.0
// The histogram against sorted durations, and the kinds of calls of every policy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/allocator/latency.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using namespace assay::allocator;
using assay::testing::PolicyRig;

TEST(LatencyHistogram, PercentilesAreWithinAnEighthOfTheSortedValues) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    LatencyHistogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 5000; ++i) {
      values.push_back(static_cast<std::int64_t>(random() >> (24 + random() % 40)));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double share : {0.0002, 0.01, 0.5, 0.9, 0.99, 1.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(share * 5000)) - 1;
      const std::int64_t exact = values[rank];
      const std::int64_t found = histogram.percentile(share);
      EXPECT_GE(found, exact) << share;
      EXPECT_LE(found, exact + exact / 8) << share;
    }
    EXPECT_EQ(histogram.max(), values.back());
    EXPECT_EQ(histogram.percentile(1.0), values.back());
    EXPECT_EQ(histogram.count(), 5000);
  }
}

TEST(LatencyHistogram, EdgesOfClassesAndAbsurdDurations) {
  for (std::int64_t ns = 0; ns < 4096; ++ns) {
    LatencyHistogram histogram;
    histogram.add(ns);
    EXPECT_EQ(histogram.percentile(0.5), ns) << "never above the maximum";
    histogram.add(std::numeric_limits<std::int64_t>::max());
    EXPECT_GE(histogram.percentile(0.5), ns);
    EXPECT_LE(histogram.percentile(0.5), ns + ns / 8);
    EXPECT_EQ(histogram.max(), std::numeric_limits<std::int64_t>::max());
  }
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0);
  histogram.add(-5);  // a clock that went back
  EXPECT_EQ(histogram.max(), 0);
}

std::int64_t calls(const TimedAllocator& timed, CallKind kind) {
  return timed.latencies()[static_cast<std::size_t>(kind)].count();
}

class TimedCalls : public ::testing::TestWithParam<const char*> {};

// A size of whole pages in every policy: a miss, the very same block again, then a part of it.
TEST_P(TimedCalls, EveryCallIsCountedOnceUnderItsKind) {
  PolicyRig rig(GetParam());
  TimedAllocator timed(std::move(rig.allocator));
  const bool keeps = std::string(GetParam()) != "direct";
  const auto take = [&](std::size_t bytes) { return *timed.allocate(bytes, rig.stream, Category::kv); };

  void* first = take(160 * kMiB);
  EXPECT_EQ(calls(timed, CallKind::miss), 1);
  ASSERT_TRUE(timed.deallocate(first));
  EXPECT_EQ(calls(timed, CallKind::free), 1);
  void* again = take(160 * kMiB);
  EXPECT_EQ(calls(timed, CallKind::hit), keeps ? 1 : 0);
  ASSERT_TRUE(timed.deallocate(again));
  void* part = take(16 * kMiB);
  EXPECT_EQ(calls(timed, CallKind::split), keeps ? 1 : 0);
  EXPECT_EQ(calls(timed, CallKind::miss), keeps ? 1 : 3);

  auto* other = rig.device.new_stream();
  ASSERT_TRUE(timed.record_stream(part, other));
  ASSERT_TRUE(timed.deallocate(part));
  EXPECT_EQ(calls(timed, CallKind::cross_stream_free), 1);
  EXPECT_EQ(calls(timed, CallKind::free), 2);
  rig.device.finish(other);

  EXPECT_TRUE(timed.deallocate(nullptr));
  EXPECT_TRUE(timed.allocate(0, rig.stream, Category::kv));
  EXPECT_FALSE(timed.allocate(std::size_t{1} << 61, rig.stream, Category::kv));
  EXPECT_FALSE(timed.deallocate(first));
  std::int64_t all = 0;
  for (const CallKind kind :
       {CallKind::hit, CallKind::split, CallKind::miss, CallKind::free, CallKind::cross_stream_free})
    all += calls(timed, kind);
  EXPECT_EQ(all, 6) << "nulls and refusals are not counted";
  EXPECT_GT(calls(timed, CallKind::clock), 0);
  EXPECT_EQ(timed.policy(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Policies, TimedCalls, ::testing::Values("caching", "direct", "expandable", "remapping"));

}  // namespace
