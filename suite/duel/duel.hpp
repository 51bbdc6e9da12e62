// SPDX-License-Identifier: Apache-2.0
// duel: one plan on two modules, launches interleaved A B B A on one machine, two documents that can be compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "results-schema/types/compare.hpp"
#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"
#include "suite/compare/series.hpp"
#include "suite/run/run.hpp"

namespace assay::duel {

// The two sides of one run whose plan has exactly two devices: each a run document of its own, with "-a" or "-b" behind
// the run's id, its launches under the orders they had in the common run.
struct Sides {
  RunDocument a;
  RunDocument b;
};
[[nodiscard]] Sides split(const RunDocument& both);

// The plan of a duel: the work of one plan on the first device of each of two, named "a:..." and "b:...".
[[nodiscard]] Plan plan_of(const Plan& a, const Plan& b);

// ---- the self-test ----

struct SelfTestRequest {
  run::Request run;              // one host device; output and check_kernels are set here
  std::filesystem::path folder;  // an empty one, for documents in between
  std::size_t families = 1;
  double alpha = 0.05;
  double margin = 0.03;
};

// One family: the binary against itself, and against itself drawn out.
struct FamilyResult {
  Comparison same;
  double slow_down = 0;  // 0.08: 8 %
  Comparison slowed;
  std::int64_t false_alarms = 0;  // regressions and improvements of `same`
  std::int64_t missed = 0;        // phases of `slowed` that are not called regressed
};

struct SelfTestResult {
  std::vector<FamilyResult> families;
  bool interrupted = false;
};

// Runs each family as two interleaved duels. The injected slow-down is real waiting inside every phase, by the larger
// of 8 % and margin and four deviations between launches of the noisiest case, as the first duel showed them. Errors:
// those of run::execute and compare_sources.
[[nodiscard]] Result<SelfTestResult> self_test(const SelfTestRequest& request);

}  // namespace assay::duel
