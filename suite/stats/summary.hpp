// SPDX-License-Identifier: Apache-2.0
// Medians and deviations of small samples.
#pragma once

#include <span>
#include <vector>

namespace assay::stats {

// The middle of the sorted values; of an even number the mean of the two middle ones. Needs one value at least.
[[nodiscard]] double median(std::span<const double> values);

// The standard deviation (n - 1) of the logarithms of both samples, each about its own mean: the pooled deviation of
// the two-sample problem, here the relative noise between launches. 0 where fewer than three values are there. Values
// above 0.
[[nodiscard]] double pooled_log_deviation(std::span<const double> a, std::span<const double> b);

// The largest rate of an event that was seen `seen` times in `trials`, at this level: the upper limit of Clopper and
// Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26 (1934),
// one-sided. 1 where nothing was tried.
[[nodiscard]] double upper_bound_of_rate(std::size_t seen, std::size_t trials, double level);

}  // namespace assay::stats
