// SPDX-License-Identifier: Apache-2.0
// The statistics against figures that were worked out by hand, and against enumerating every assignment one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "suite/stats/family.hpp"
#include "suite/stats/normal.hpp"
#include "suite/stats/rank_sum.hpp"
#include "suite/stats/ratio.hpp"
#include "suite/stats/summary.hpp"

namespace assay::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using Values = std::vector<double>;

double midrank_sum(const Values& all, const std::vector<bool>& chosen) {
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!chosen[i]) continue;
    double below = 0;
    double equal = 0;
    for (const double other : all) {
      below += other < all[i] ? 1 : 0;
      equal += other == all[i] ? 1 : 0;
    }
    sum += below + (equal + 1) / 2;
  }
  return sum;
}

// Every choice of the first sample's places, one after the other.
double enumerated_p(const Values& a, const Values& b) {
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<bool> chosen(all.size(), false);
  std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(a.size()), true);
  const double expected = static_cast<double>(a.size() * (all.size() + 1)) / 2;
  const double seen = std::abs(midrank_sum(all, chosen) - expected);
  double as_far = 0;
  double ways = 0;
  do {
    ++ways;
    if (std::abs(midrank_sum(all, chosen) - expected) >= seen - 1e-9) ++as_far;
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return as_far / ways;
}

TEST(RankSum, SeparatedSamplesHaveTheSmallestP) {
  RankTables tables;
  EXPECT_NEAR(rank_sum(Values{1, 2, 3}, Values{4, 5, 6}, tables).p, 0.1, 1e-12);  // 2 of C(6,3) = 20
  EXPECT_NEAR(rank_sum(Values{1, 2, 3, 4}, Values{5, 6, 7, 8}, tables).p, 2.0 / 70, 1e-12);
  EXPECT_NEAR(smallest_p(7, 7), 2.0 / 3432, 1e-15);
  EXPECT_NEAR(smallest_p(8, 8), 2.0 / 12870, 1e-15);
  EXPECT_NEAR(smallest_p(1, 1), 1.0, 1e-15);
}

TEST(RankSum, ByHandWithoutTies) {
  // a = {1, 4}, b = {2, 3, 5}: rank sum 5, expected 6. Of the ten pairs of ranks those with a sum <= 5 or >= 7 are
  // 12, 13, 14, 23 and 25, 34, 35, 45: all but 15 and 24.
  RankTables tables;
  EXPECT_NEAR(rank_sum(Values{1, 4}, Values{2, 3, 5}, tables).p, 0.8, 1e-12);
}

TEST(RankSum, ByHandWithTies) {
  // {1, 1} against {1, 2}: midranks 2, 2, 2, 4; the sum is 4, expected 5. Every one of the six pairs has 4 or 6.
  RankTables tables;
  EXPECT_NEAR(rank_sum(Values{1, 1}, Values{1, 2}, tables).p, 1.0, 1e-12);
  EXPECT_NEAR(rank_sum(Values{3, 3, 3}, Values{3, 3, 3}, tables).p, 1.0, 1e-12);
}

TEST(RankSum, EqualsTheEnumerationOfEveryAssignment) {
  std::mt19937_64 random(5);
  RankTables tables;
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&](std::size_t n, int distinct) {
      Values out(n);
      for (auto& value : out) value = std::uniform_int_distribution<int>(1, distinct)(random);
      return out;
    };
    const int distinct = round % 3 == 0 ? 1000 : 4;  // mostly without ties, and with many
    const auto a = draw(2 + static_cast<std::size_t>(round % 5), distinct);
    const auto b = draw(2 + static_cast<std::size_t>(round % 4), distinct);
    const auto result = rank_sum(a, b, tables);
    ASSERT_TRUE(result.exact);
    ASSERT_NEAR(result.p, enumerated_p(a, b), 1e-10) << round;
    ASSERT_NEAR(result.p, rank_sum(b, a, tables).p, 1e-12) << round;
  }
}

TEST(RankSum, TheApproximationMeetsTheExactTestAtItsBorder) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  RankTables tables;
  Values a(30);
  Values b(30);
  for (auto& value : a) value = noise(random);
  for (auto& value : b) value = noise(random) + 0.7;
  const auto exact = rank_sum(a, b, tables);
  a.push_back(noise(random));
  const auto approximate = rank_sum(a, b, tables);
  EXPECT_TRUE(exact.exact);
  EXPECT_FALSE(approximate.exact);
  EXPECT_NEAR(std::log(approximate.p), std::log(exact.p), 0.7);
  EXPECT_EQ(rank_sum({}, b, tables).p, 1.0);
}

TEST(MannWhitney, DistributionByHand) {
  RankTables tables;
  // C(4,2) = 6 assignments: U = 0, 1, 2, 2, 3, 4.
  EXPECT_THAT(tables.mann_whitney_cdf(2, 2),
              ElementsAre(DoubleNear(1.0 / 6, 1e-12), DoubleNear(2.0 / 6, 1e-12), DoubleNear(4.0 / 6, 1e-12),
                          DoubleNear(5.0 / 6, 1e-12), DoubleNear(1.0, 1e-12)));
}

TEST(Ratio, EstimateAndIntervalByHand) {
  RankTables tables;
  // Differences of logarithms to base 2: of {1, 2, 4} and {8, 16, 32}: 1 2 2 3 3 3 4 4 5; the median is 3.
  const auto small = hodges_lehmann_ratio(Values{1, 2, 4}, Values{8, 16, 32}, 0.95, tables);
  EXPECT_NEAR(small.estimate, 8, 1e-12);
  EXPECT_FALSE(small.interval) << "three a side cannot give 95 %: P(U = 0) is 0.05, twice that is more";
  const auto wide = hodges_lehmann_ratio(Values{1, 2, 4}, Values{8, 16, 32}, 0.9, tables);
  ASSERT_TRUE(wide.interval);
  EXPECT_NEAR(wide.interval->low, 2, 1e-12);
  EXPECT_NEAR(wide.interval->high, 32, 1e-12);
}

TEST(Ratio, IntervalOfSevenLaunchesCutsAsTheTableSays) {
  // For 7 and 7 the table of the rank-sum test gives the lower critical value U = 8 at 0.05 two-sided: k = 9.
  RankTables tables;
  const auto& cdf = tables.mann_whitney_cdf(7, 7);
  EXPECT_LE(cdf[8], 0.025);
  EXPECT_GT(cdf[9], 0.025);
  Values a;
  Values b;
  for (int i = 0; i < 7; ++i) {
    a.push_back(std::exp(i));
    b.push_back(std::exp(7 * i));
  }
  const auto ratio = hodges_lehmann_ratio(a, b, 0.95, tables);
  Values differences;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) differences.push_back(7.0 * j - i);
  std::sort(differences.begin(), differences.end());
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(std::log(ratio.interval->low), differences[8], 1e-9);
  EXPECT_NEAR(std::log(ratio.interval->high), differences[40], 1e-9);
  EXPECT_NEAR(std::log(ratio.estimate), differences[24], 1e-9);
}

TEST(Ratio, IntervalCoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.02);
  RankTables tables;
  int covered = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    Values a(7);
    Values b(9);
    for (auto& value : a) value = std::exp(noise(random));
    for (auto& value : b) value = 1.1 * std::exp(noise(random));
    const auto ratio = hodges_lehmann_ratio(a, b, 0.95, tables);
    covered += ratio.interval->low <= 1.1 && 1.1 <= ratio.interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, kRounds * 0.945);
}

TEST(Family, HolmByHand) {
  EXPECT_THAT(holm(Values{0.01, 0.04, 0.03}),
              ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12)));
  EXPECT_THAT(holm(Values{0.5, 0.9}), ElementsAre(1.0, 1.0));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Family, LaunchesThatCanDecide) {
  // 2 / C(2n, n) at most 0.05 / cases: 7 up to 85 cases, 8 up to 321, 9 up to 1215.
  EXPECT_EQ(launches_for_family(0.05, 1), 7U);
  EXPECT_EQ(launches_for_family(0.05, 40), 7U);
  EXPECT_EQ(launches_for_family(0.05, 85), 7U);
  EXPECT_EQ(launches_for_family(0.05, 86), 8U);
  EXPECT_EQ(launches_for_family(0.05, 321), 8U);
  EXPECT_EQ(launches_for_family(0.05, 322), 9U);
  EXPECT_FALSE(can_decide(6, 60, 0.05, 1));
}

TEST(Family, LaunchesNeededGrowWithNoiseAndNearTheMargin) {
  const auto needed = [](double ratio, double deviation) {
    return launches_needed({std::log(ratio), 0.03, deviation, 0.05, 0.95, 40});
  };
  // Inside: 2 pi/3 (1.95996 * 0.03 / ln 1.03)^2 = 8.29.
  EXPECT_EQ(needed(1.0, 0.03), 9U);
  EXPECT_EQ(needed(1.0, 0.001), 7U);
  EXPECT_GT(needed(1.0, 0.06), needed(1.0, 0.03));
  EXPECT_GT(needed(1.02, 0.03), needed(1.0, 0.03));
  EXPECT_EQ(needed(1.0299, 0.03), std::nullopt);
  EXPECT_GT(needed(1.05, 0.1), needed(1.2, 0.1));
}

TEST(Normal, PointsOfTheTable) {
  EXPECT_NEAR(normal_tail(0), 0.5, 1e-15);
  EXPECT_NEAR(normal_point(0.025), 1.959963985, 1e-8);
  EXPECT_NEAR(normal_point(0.9), -1.281551566, 1e-8);
}

TEST(Summary, MedianDeviationAndBound) {
  EXPECT_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_NEAR(pooled_log_deviation(Values{1, std::exp(2)}, Values{5, 5}), 1.0, 1e-12);  // sqrt((1 + 1) / 2)
  EXPECT_EQ(pooled_log_deviation(Values{1}, Values{2}), 0);
  EXPECT_NEAR(upper_bound_of_rate(0, 5, 0.95), 1 - std::pow(0.05, 0.2), 1e-9);
  EXPECT_NEAR(upper_bound_of_rate(0, 2000, 0.95), 0.0014967, 1e-6);
  EXPECT_EQ(upper_bound_of_rate(3, 3, 0.95), 1);
}

}  // namespace
}  // namespace assay::stats
