// SPDX-License-Identifier: Apache-2.0
// Medians, deviations, and the bound of a rate.
#include "suite/stats/summary.hpp"

#include <algorithm>
#include <cmath>

namespace assay::stats {
namespace {

struct Spread {
  double squares = 0;
  std::size_t freedom = 0;
};

Spread spread_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  double mean = 0;
  for (const double value : values) mean += std::log(value) / static_cast<double>(values.size());
  Spread out{0, values.size() - 1};
  for (const double value : values) out.squares += std::pow(std::log(value) - mean, 2);
  return out;
}

// P(X <= seen) of a binomial variable.
double binomial_cdf(std::size_t seen, std::size_t trials, double rate) {
  double sum = 0;
  for (std::size_t k = 0; k <= seen; ++k) {
    const auto n = static_cast<double>(trials);
    const auto i = static_cast<double>(k);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1);
    sum += std::exp(log_ways + i * std::log(rate) + (n - i) * std::log1p(-rate));
  }
  return sum;
}

}  // namespace

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

double pooled_log_deviation(std::span<const double> a, std::span<const double> b) {
  const auto left = spread_of(a);
  const auto right = spread_of(b);
  const std::size_t freedom = left.freedom + right.freedom;
  return a.size() + b.size() < 3 || freedom == 0
             ? 0
             : std::sqrt((left.squares + right.squares) / static_cast<double>(freedom));
}

double upper_bound_of_rate(std::size_t seen, std::size_t trials, double level) {
  if (seen >= trials) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (binomial_cdf(seen, trials, middle) > 1 - level ? low : high) = middle;
  }
  return high;
}

}  // namespace assay::stats
