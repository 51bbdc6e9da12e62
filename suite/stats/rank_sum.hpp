// SPDX-License-Identifier: Apache-2.0
// The exact Wilcoxon rank-sum test of two small samples, ties included, and what it can decide at all.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace assay::stats {

// The largest a * b whose distribution is enumerated exactly, 30 a side; beyond it the normal approximation stands in.
inline constexpr std::size_t kLargestExactProduct = 900;

// Distributions that were counted once, for callers that ask for the same sample sizes many times. Not thread safe.
class RankTables {
 public:
  // P(U <= u) for u = 0 .. a*b of the Mann-Whitney statistic without ties; Mann and Whitney, "On a test of whether one
  // of two random variables is stochastically larger than the other", Annals of Mathematical Statistics 18 (1947). The
  // reference is good as long as the tables are. a * b at most kLargestExactProduct.
  const std::vector<double>& mann_whitney_cdf(std::size_t a, std::size_t b);

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> cdf_;
};

struct RankSum {
  double p = 1.0;     // two-sided, of "both samples come from one distribution"
  bool exact = true;  // by enumeration of all assignments of the ranks; else normal, with tie and continuity correction
};

// Two-sided p: the share of all C(a+b, a) assignments of the midranks whose rank sum lies at least as far from its
// expectation as the one seen. Ties keep their midranks, so the distribution is the conditional exact one. Enumerated
// by the shift algorithm: Streitberg and Roehmel, "Exact distributions for permutation and rank tests", Statistical
// Software Newsletter 12 (1986). Approximation: Lehmann, Nonparametrics (1975), section 1.3 with (1.36) for ties.
// Either sample empty: p = 1. Values must be finite.
[[nodiscard]] RankSum rank_sum(std::span<const double> a, std::span<const double> b, RankTables& tables);

// The smallest two-sided p that samples of these sizes can reach, without ties: 2 / C(a + b, a), at most 1.
[[nodiscard]] double smallest_p(std::size_t a, std::size_t b);

}  // namespace assay::stats
