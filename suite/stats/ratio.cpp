// SPDX-License-Identifier: Apache-2.0
// All pairwise differences of logarithms, sorted: the samples are launches, so they are few.
#include "suite/stats/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/stats/normal.hpp"

namespace assay::stats {
namespace {

// How many differences are cut off at each end; 0 where no interval of this level exists.
std::size_t cut(std::size_t a, std::size_t b, double half, RankTables& tables) {
  if (a * b <= kLargestExactProduct) {
    const auto& cdf = tables.mann_whitney_cdf(a, b);
    std::size_t k = 0;
    while (k < cdf.size() && cdf[k] <= half + 1e-12) ++k;  // 0.05 is meant where (1 - 0.9) / 2 is a little less
    return k;
  }
  const auto m = static_cast<double>(a);
  const auto n = static_cast<double>(b);
  const double k = m * n / 2 - normal_point(half) * std::sqrt(m * n * (m + n + 1) / 12);
  return k >= 1 ? static_cast<std::size_t>(k) : 0;
}

}  // namespace

Ratio hodges_lehmann_ratio(std::span<const double> a, std::span<const double> b, double level, RankTables& tables) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double x : a)
    for (const double y : b) differences.push_back(std::log(y) - std::log(x));
  std::sort(differences.begin(), differences.end());
  const std::size_t count = differences.size();
  const double middle = (differences[(count - 1) / 2] + differences[count / 2]) / 2;
  Ratio out{std::exp(middle), std::nullopt};
  if (const auto k = cut(a.size(), b.size(), (1 - level) / 2, tables); k > 0)
    out.interval = Interval{std::exp(differences[k - 1]), std::exp(differences[count - k])};
  return out;
}

}  // namespace assay::stats
