// SPDX-License-Identifier: Apache-2.0
// Holm's adjustment and sample sizes.
#include "suite/stats/family.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "suite/stats/normal.hpp"
#include "suite/stats/rank_sum.hpp"

namespace assay::stats {

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    highest = std::max(highest, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = highest;
  }
  return adjusted;
}

bool can_decide(std::size_t a, std::size_t b, double alpha, std::size_t cases) {
  return std::min(a, b) >= kFewestLaunches &&
         smallest_p(a, b) <= alpha / static_cast<double>(std::max<std::size_t>(cases, 1));
}

std::size_t launches_for_family(double alpha, std::size_t cases) {
  std::size_t n = kFewestLaunches;
  while (n < kMostLaunches && !can_decide(n, n, alpha, cases)) ++n;
  return n;
}

std::optional<std::size_t> launches_needed(const Outlook& outlook) {
  constexpr double kPi = 3.14159265358979323846;
  const double limit = std::log1p(outlook.margin);
  const double effect = std::abs(outlook.log_ratio);
  const std::size_t least = launches_for_family(outlook.alpha, outlook.cases);
  double n = 0;
  if (effect > limit) {
    const double z = normal_point(outlook.alpha / 2 / static_cast<double>(outlook.cases)) + normal_point(0.1);
    n = 2 * kPi / 3 * std::pow(z * outlook.deviation / effect, 2);
  } else {
    n = 2 * kPi / 3 * std::pow(normal_point((1 - outlook.level) / 2) * outlook.deviation / (limit - effect), 2);
  }
  if (!(n <= static_cast<double>(kMostLaunches))) return std::nullopt;
  return std::max(least, static_cast<std::size_t>(std::ceil(n)));
}

}  // namespace assay::stats
