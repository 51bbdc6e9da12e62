// SPDX-License-Identifier: Apache-2.0
// The verdict rule.
#include "suite/compare/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/stats/family.hpp"
#include "suite/stats/summary.hpp"

namespace assay::compare {
namespace {

bool in_family(const Measured& measured) {
  return std::min(measured.baseline.size(), measured.candidate.size()) >= stats::kFewestLaunches;
}

std::string too_few(const Measured& measured, std::size_t least) {
  const auto a = measured.baseline.size();
  const auto b = measured.candidate.size();
  if (a == 1 && b == 1) return fmt::format("one launch a side decides nothing; {} are needed", least);
  return fmt::format("{} and {} launches are too few; {} a side are needed", a, b, least);
}

void decide(const Measured& measured, const Rule& rule, std::size_t family, Judged& out) {
  const std::size_t least = stats::launches_for_family(rule.alpha, family);
  const auto& ratio = *out.ratio;
  const double slower = measured.better == Better::lower ? ratio.estimate : 1 / ratio.estimate;
  if (!stats::can_decide(measured.baseline.size(), measured.candidate.size(), rule.alpha, family)) {
    out.reason = too_few(measured, least);
    out.launches_needed = least;
    return;
  }
  const double limit = 1 + measured.margin;
  if (*out.adjusted_p < rule.alpha && (slower > limit || slower < 1 / limit)) {
    out.verdict = slower > 1 ? Verdict::regressed : Verdict::improved;
    return;
  }
  if (ratio.interval && ratio.interval->low > 1 / limit && ratio.interval->high < limit) {
    out.verdict = Verdict::same;
    return;
  }
  const double deviation = stats::pooled_log_deviation(measured.baseline, measured.candidate);
  out.launches_needed = stats::launches_needed(
      {std::log(ratio.estimate), measured.margin, deviation, rule.alpha, rule.level, std::max<std::size_t>(family, 1)});
  out.reason = out.launches_needed
                   ? fmt::format("launches scatter by {:.1f} %; about {} a side would decide", 100 * deviation,
                                 *out.launches_needed)
                   : fmt::format("launches scatter by {:.1f} % and the ratio sits on the margin", 100 * deviation);
}

}  // namespace

std::vector<Judged> judge(std::span<const Measured> cases, const Rule& rule, stats::RankTables& tables,
                          std::size_t* family) {
  std::vector<Judged> out(cases.size());
  std::vector<double> p;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].baseline.empty() || cases[i].candidate.empty()) continue;
    out[i].ratio = stats::hodges_lehmann_ratio(cases[i].baseline, cases[i].candidate, rule.level, tables);
    out[i].p = stats::rank_sum(cases[i].baseline, cases[i].candidate, tables).p;
    if (!in_family(cases[i])) continue;
    members.push_back(i);
    p.push_back(*out[i].p);
  }
  const auto adjusted = stats::holm(p);
  for (std::size_t k = 0; k < members.size(); ++k) out[members[k]].adjusted_p = adjusted[k];
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (out[i].ratio)
      decide(cases[i], rule, members.size(), out[i]);
    else
      out[i].reason = "no launch of one side can be used";
  }
  if (family != nullptr) *family = members.size();
  return out;
}

}  // namespace assay::compare
