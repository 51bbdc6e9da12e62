// SPDX-License-Identifier: Apache-2.0
// The ratio of two samples by Hodges and Lehmann, with a confidence interval that assumes no distribution.
#pragma once

#include <optional>
#include <span>

#include "suite/stats/rank_sum.hpp"

namespace assay::stats {

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

struct Ratio {
  double estimate = 1;               // of b over a
  std::optional<Interval> interval;  // absent where samples this small have none at the level that was asked for
};

// The estimate is the exponential of the median of all differences log b_j - log a_i: Hodges and Lehmann, "Estimates of
// location based on rank tests", Annals of Mathematical Statistics 34 (1963), on the logarithmic scale, where a factor
// is a shift. The interval runs from the k-th smallest to the k-th largest of these differences, k the largest with
// P(U <= k - 1) <= (1 - level) / 2: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (3rd edition),
// section 4.3; its true level is at least `level`. Beyond kLargestExactProduct k is the normal approximation's.
// Values must be finite and above 0, both samples non-empty; level in (0, 1).
[[nodiscard]] Ratio hodges_lehmann_ratio(std::span<const double> a, std::span<const double> b, double level,
                                         RankTables& tables);

}  // namespace assay::stats
