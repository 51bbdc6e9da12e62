// SPDX-License-Identifier: Apache-2.0
// judge: the verdict rule over a family of cases, as a pure function of per-launch medians.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results-schema/types/compare.hpp"
#include "suite/stats/rank_sum.hpp"
#include "suite/stats/ratio.hpp"

namespace assay::compare {

struct Rule {
  double alpha = 0.05;  // the family's chance of one false regression or improvement
  double level = 0.95;  // of the intervals
};

// One case of a family. Values are per-launch medians, above 0; margins above 0 (0.03: 3 %).
struct Measured {
  std::span<const double> baseline;
  std::span<const double> candidate;
  Better better = Better::lower;
  double margin = 0.03;
};

struct Judged {
  Verdict verdict = Verdict::inconclusive;
  std::string reason;
  std::optional<stats::Ratio> ratio;  // candidate over baseline; absent where a side is empty
  std::optional<double> p;
  std::optional<double> adjusted_p;
  std::optional<std::size_t> launches_needed;
};

// `regressed` or `improved`: Holm-adjusted exact p for ratio 1 below alpha, and the ratio by Hodges and Lehmann beyond
// the margin, which runs from 1 / (1 + margin) to 1 + margin. `same`: the interval lies inside the margin. Otherwise
// `inconclusive`, with the launches that would decide. The family is every case with at least stats::kFewestLaunches a
// side; a case whose launches cannot decide in a family of this size is inconclusive whatever its ratio. The order of
// the results is that of `cases`. `family` receives the size of the family where it is given.
[[nodiscard]] std::vector<Judged> judge(std::span<const Measured> cases, const Rule& rule, stats::RankTables& tables,
                                        std::size_t* family = nullptr);

}  // namespace assay::compare
