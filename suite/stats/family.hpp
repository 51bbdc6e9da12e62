// SPDX-License-Identifier: Apache-2.0
// Several tests at once: Holm's adjustment, and how many launches a family of tests needs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::stats {

// Adjusted p values in the order given: the family's chance of one false rejection stays at or below alpha where those
// with an adjusted p below alpha are rejected, however the tests depend on each other. Holm, "A simple sequentially
// rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

// Fewer launches than this a side are never judged: no fewer can decide among 40 cases.
inline constexpr std::size_t kFewestLaunches = 7;

// Whether samples of these sizes can still be told apart among `cases` tests: both hold at least kFewestLaunches, and
// the smallest p that the exact test can reach is at most alpha / cases, which Holm asks of the first rejection.
[[nodiscard]] bool can_decide(std::size_t a, std::size_t b, double alpha, std::size_t cases);

// The smallest n of at least kFewestLaunches for which can_decide(n, n, alpha, cases).
[[nodiscard]] std::size_t launches_for_family(double alpha, std::size_t cases);

// What one more series would have to hold for a verdict.
struct Outlook {
  double log_ratio = 0;  // the effect seen, as a logarithm
  double margin = 0.03;
  double deviation = 0;  // standard deviation between launches, of logarithms
  double alpha = 0.05;
  double level = 0.95;
  std::size_t cases = 1;
};

// Launches a side with which a further series would probably be decided, if effect and deviation stay what they are;
// nothing where more than kMostLaunches would be needed (an effect that sits on the margin). Beyond the margin: n so
// that the test at alpha / cases finds the effect with power 0.9; inside it: n so that the interval fits into the
// margin. Both from the normal approximation, n = 2 (pi / 3) ((z1 + z2) deviation / distance)^2, where 3 / pi is the
// efficiency of the rank-sum test to the normal one: Lehmann, Nonparametrics (1975), section 2.4. Never below
// launches_for_family.
inline constexpr std::size_t kMostLaunches = 1000;
[[nodiscard]] std::optional<std::size_t> launches_needed(const Outlook& outlook);

}  // namespace assay::stats
