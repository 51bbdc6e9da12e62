// SPDX-License-Identifier: Apache-2.0
// Tail and point of the standard normal distribution.
#include "suite/stats/normal.hpp"

#include <cmath>

namespace assay::stats {

double normal_tail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

double normal_point(double tail) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace assay::stats
