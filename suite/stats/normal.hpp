// SPDX-License-Identifier: Apache-2.0
// The standard normal distribution: its tail and the point that has a given tail.
#pragma once

namespace assay::stats {

// P(Z > z), by the complementary error function: Abramowitz and Stegun 7.1.22 with 26.2.29.
[[nodiscard]] double normal_tail(double z);

// The z with P(Z > z) = tail, by bisection of normal_tail; tail in (0, 1).
[[nodiscard]] double normal_point(double tail);

}  // namespace assay::stats
