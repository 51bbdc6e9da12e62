// SPDX-License-Identifier: Apache-2.0
// The self-test: what the whole procedure says of a binary against itself on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/compare/cases.hpp"
#include "suite/compare/compare.hpp"
#include "suite/duel/duel.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/stats/summary.hpp"

namespace assay::duel {
namespace {

constexpr double kLeastSlowDown = 0.08;
constexpr double kMostSlowDown = 50;  // of a machine so noisy that nothing can be said

Result<Comparison> duel_once(const SelfTestRequest& request, double slow_down, const std::string& name) {
  auto run = request.run;
  run.plan = plan_of(run.plan, run.plan);
  run.output = request.folder / (name + ".json");
  run.check_kernels = false;
  run.slow_permille = {0, static_cast<std::int64_t>(std::lround(1000 * slow_down))};
  if (run.on_progress)
    run.on_progress = [name, told = run.on_progress](std::string_view text) {
      told(fmt::format("{}: {}", name, text));
    };
  const auto outcome = run::execute(run);
  if (!outcome) return outcome.error();
  if (outcome->interrupted) return Error{ErrorCode::interrupted, "interrupted; the self-test says nothing"};
  auto sides = split(outcome->document);
  const std::vector<compare::Source> a{{name + " a", std::move(sides.a)}};
  const std::vector<compare::Source> b{{name + " b", std::move(sides.b)}};
  compare::Options options;
  options.alpha = request.alpha;
  options.margin = request.margin;
  options.one_series = true;
  return compare::compare_sources(a, b, options);
}

// The margin and four deviations beyond it, on the scale of logarithms, where deviations of any size add up.
double slow_down_for(const Comparison& same, double margin) {
  double deviation = 0;
  for (const auto& said : same.cases)
    if (said.name != compare::kAnchor)
      deviation = std::max(deviation, stats::pooled_log_deviation(said.baseline.medians, said.candidate.medians));
  return std::clamp(std::expm1(std::log1p(margin) + 4 * deviation), kLeastSlowDown, kMostSlowDown);
}

}  // namespace

Result<SelfTestResult> self_test(const SelfTestRequest& request) {
  SelfTestResult out;
  for (std::size_t i = 0; i < request.families; ++i) {
    FamilyResult family;
    auto same = duel_once(request, 0, fmt::format("family {} of {}, against itself", i + 1, request.families));
    if (!same) return same.error();
    family.same = std::move(*same);
    family.false_alarms = family.same.counts.regressed + family.same.counts.improved;
    family.slow_down = slow_down_for(family.same, request.margin);
    auto slowed =
        duel_once(request, family.slow_down,
                  fmt::format("family {} of {}, slowed by {:.0f} %", i + 1, request.families, 100 * family.slow_down));
    if (!slowed) return slowed.error();
    family.slowed = std::move(*slowed);
    for (const auto& said : family.slowed.cases)
      if (said.name != compare::kAnchor && said.verdict != Verdict::regressed) ++family.missed;
    if (family.slowed.cases.empty()) ++family.missed;
    out.families.push_back(std::move(family));
  }
  return out;
}

}  // namespace assay::duel
