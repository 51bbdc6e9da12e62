// SPDX-License-Identifier: Apache-2.0
// Midranks are doubled, which makes them integers: the distribution of their sum is counted one item at a time.
#include "suite/stats/rank_sum.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "suite/stats/normal.hpp"

namespace assay::stats {
namespace {

struct Ranked {
  std::vector<std::size_t> doubled;  // twice the midrank of each value, a's values first
  double tie_term = 0;               // sum of t^3 - t over groups of t equal values
};

Ranked ranked(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = a.size() + b.size();
  const auto value = [&](std::size_t i) { return i < a.size() ? a[i] : b[i - a.size()]; };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return value(x) < value(y); });
  Ranked out;
  out.doubled.resize(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first + 1;
    while (last < n && value(order[last]) == value(order[first])) ++last;
    for (std::size_t i = first; i < last; ++i) out.doubled[order[i]] = first + last + 1;  // mean of ranks first+1..last
    const auto t = static_cast<double>(last - first);
    out.tie_term += t * t * t - t;
    first = last;
  }
  return out;
}

// share[s]: the share of the subsets of `chosen` items whose weights sum to s.
std::vector<double> sums_of_subsets(const std::vector<std::size_t>& weights, std::size_t chosen) {
  const std::size_t total = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  // by_count[k][s]: the probability that a uniformly random subset of all items seen so far has k items and sum s,
  // scaled by the number of subsets of k items in the end; probabilities never overflow as counts would.
  std::vector<std::vector<double>> by_count(chosen + 1, std::vector<double>(total + 1, 0.0));
  by_count[0][0] = 1.0;
  std::size_t reach = 0;
  std::size_t seen = 0;
  for (const std::size_t weight : weights) {
    reach += weight;
    ++seen;
    // Of all subsets of k among `seen` items the share k / seen holds the newest item.
    for (std::size_t k = std::min(chosen, seen); k > 0; --k) {
      const double with = static_cast<double>(k) / static_cast<double>(seen);
      auto& to = by_count[k];
      const auto& from = by_count[k - 1];
      for (std::size_t s = reach + 1; s-- > 0;)
        to[s] = to[s] * (1 - with) + (s >= weight ? from[s - weight] * with : 0.0);
    }
  }
  return by_count[chosen];
}

double approximate(double sum, double expected, std::size_t a, std::size_t b, double tie_term) {
  const auto m = static_cast<double>(a);
  const auto n = static_cast<double>(b);
  const double all = m + n;
  const double variance = m * n / 12 * ((all + 1) - tie_term / (all * (all - 1)));
  if (!(variance > 0)) return 1.0;
  const double distance = std::max(0.0, std::abs(sum - expected) - 0.5);
  return std::min(1.0, 2 * normal_tail(distance / std::sqrt(variance)));
}

}  // namespace

RankSum rank_sum(std::span<const double> a, std::span<const double> b, RankTables& tables) {
  if (a.empty() || b.empty()) return {};
  const auto ranks = ranked(a, b);
  const auto seen = std::accumulate(ranks.doubled.begin(),
                                    ranks.doubled.begin() + static_cast<std::ptrdiff_t>(a.size()), std::size_t{0});
  const std::size_t all = a.size() + b.size();
  const std::size_t expected = a.size() * (all + 1);  // doubled, as the ranks are: an integer
  if (a.size() * b.size() > kLargestExactProduct)
    return {approximate(static_cast<double>(seen) / 2, static_cast<double>(expected) / 2, a.size(), b.size(),
                        ranks.tie_term),
            false};
  if (ranks.tie_term == 0) {  // nothing but the sizes decides: U is the rank sum less its lowest value
    const auto& cdf = tables.mann_whitney_cdf(a.size(), b.size());
    const std::size_t u = (seen - a.size() * (a.size() + 1)) / 2;
    return {std::min(1.0, 2 * cdf[std::min(u, a.size() * b.size() - u)]), true};
  }
  const auto share = sums_of_subsets(ranks.doubled, a.size());
  const std::size_t distance = seen > expected ? seen - expected : expected - seen;
  double p = 0;
  for (std::size_t s = 0; s < share.size(); ++s)
    if ((s > expected ? s - expected : expected - s) >= distance) p += share[s];
  return {std::min(1.0, p), true};
}

double smallest_p(std::size_t a, std::size_t b) {
  double ways = 1;
  for (std::size_t i = 1; i <= a; ++i) ways *= static_cast<double>(b + i) / static_cast<double>(i);
  return std::min(1.0, 2 / ways);
}

const std::vector<double>& RankTables::mann_whitney_cdf(std::size_t a, std::size_t b) {
  auto& cdf = cdf_[{a, b}];
  if (!cdf.empty()) return cdf;
  std::vector<std::size_t> ranks(a + b);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const auto share = sums_of_subsets(ranks, a);
  const std::size_t lowest = a * (a + 1) / 2;  // the rank sum where U is 0
  cdf.resize(a * b + 1);
  double sum = 0;
  for (std::size_t u = 0; u < cdf.size(); ++u) cdf[u] = sum += share[lowest + u];
  return cdf;
}

}  // namespace assay::stats
