// SPDX-License-Identifier: Apache-2.0
// Identity, cases, memory, counts, exit code: the comparison as a whole.
#include "suite/compare/compare.hpp"
#include "suite/compare/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "suite/compare/pairs.hpp"
#include "suite/compare/timed.hpp"

namespace assay::compare {
namespace {

// How much worse the candidate is: above 1 slower or larger.
double worse(const ComparedCase& said) {
  const double ratio = said.ratio.value.value_or(1);
  return said.better == Better::lower ? ratio : 1 / ratio;
}

double worse(const ComparedMemory& said) {
  return static_cast<double>(said.candidate_bytes) /
         static_cast<double>(std::max<std::int64_t>(said.baseline_bytes, 1));
}

template <class Said>
void accept(Said& said, const Options& options, std::vector<std::string>& notes) {
  if (const auto* acceptance = options.baseline.accepts(said.name, worse(said), options.today)) {
    said.accepted = *acceptance;
    return;
  }
  if (const auto* expired = options.baseline.accepts(said.name, worse(said), ""))
    notes.push_back(fmt::format("the acceptance of {} ended on {} ({})", said.name, expired->until, expired->reason));
}

int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
      return 0;
    case Verdict::improved:
      return 1;
    case Verdict::inconclusive:
      return 2;
    case Verdict::excluded:
      return 3;
    case Verdict::same:
    case Verdict::not_judged:
      break;
  }
  return 4;
}

ComparedCounts count(const Comparison& comparison) {
  ComparedCounts counts;
  for (const auto& said : comparison.cases) {
    if (said.anchor) continue;  // it speaks of the machine, not of what was changed
    counts.accepted += said.accepted ? 1 : 0;
    switch (said.verdict) {
      case Verdict::regressed:
        ++counts.regressed;
        break;
      case Verdict::improved:
        ++counts.improved;
        break;
      case Verdict::same:
        ++counts.same;
        break;
      case Verdict::inconclusive:
        ++counts.inconclusive;
        break;
      case Verdict::excluded:
        ++counts.excluded;
        break;
      case Verdict::not_judged:
        ++counts.not_judged;
        break;
    }
  }
  for (const auto& said : comparison.memory) {
    counts.accepted += said.accepted ? 1 : 0;
    counts.memory_grown += said.verdict == MemoryVerdict::grown ? 1 : 0;
    counts.memory_shrunk += said.verdict == MemoryVerdict::shrunk ? 1 : 0;
    counts.memory_same += said.verdict == MemoryVerdict::same ? 1 : 0;
  }
  counts.unmatched = static_cast<std::int64_t>(comparison.unmatched.size());
  return counts;
}

bool any_wrong(std::span<const Source> sources) {
  for (const auto& source : sources)
    for (const auto& device : source.document.devices)
      for (const auto& checked : device.cases)
        if (checked.status == CaseStatus::wrong) return true;
  return false;
}

bool any_launch(std::span<const Source> sources, std::initializer_list<LaunchOutcome> outcomes) {
  for (const auto& source : sources)
    for (const auto& device : source.document.devices)
      for (const auto& launch : device.launches)
        if (std::find(outcomes.begin(), outcomes.end(), launch.outcome) != outcomes.end()) return true;
  return false;
}

// The anchor is in every document: that it alone matched says nothing of the work that was measured.
bool nothing_comparable(const Comparison& comparison) {
  return comparison.memory.empty() && std::all_of(comparison.cases.begin(), comparison.cases.end(),
                                                  [](const auto& said) { return said.name.starts_with(kAnchor); });
}

// Outcomes in their order of precedence.
std::int64_t exit_code(const Comparison& comparison, std::span<const Source> baseline,
                       std::span<const Source> candidate) {
  if (comparison.identity.pairs.empty() || comparison.identity.relation == IdentityRelation::invalid) return 3;
  if (!comparison.rule.across && comparison.identity.relation == IdentityRelation::different_thing) return 3;
  const auto& counts = comparison.counts;
  const bool wrong = any_wrong(baseline) || any_wrong(candidate);
  if (comparison.rule.across) return wrong ? 5 : 0;
  if (wrong) return 5;
  if (any_launch(candidate, {LaunchOutcome::failed, LaunchOutcome::crashed})) return 6;
  if (any_launch(candidate, {LaunchOutcome::hung})) return 7;
  if (nothing_comparable(comparison)) return 3;
  if (counts.regressed + counts.memory_grown > counts.accepted) return 1;
  return counts.inconclusive > 0 ? 4 : 0;
}

void list_lonely(const std::vector<const Series*>& lonely, const char* missing_in, std::vector<Unmatched>& unmatched) {
  for (const auto* series : lonely)
    unmatched.push_back({"everything on " + series->subject, series->subject, missing_in,
                         "the other side has nothing it may be compared with"});
}

void note_lost_launches(const Pair& pair, std::vector<std::string>& notes) {
  for (const auto* side : {&pair.said.baseline, &pair.said.candidate})
    if (side->launches_failed > 0)
      notes.push_back(fmt::format("{} of {} launches of the {} did not end well and are not used",
                                  side->launches_failed, side->launches_ok + side->launches_failed,
                                  side == &pair.said.baseline ? "baseline" : "candidate"));
}

Comparison refused(Comparison comparison, Pairing& pairing) {
  comparison.identity.pairs = std::move(pairing.refused);
  comparison.identity.relation = IdentityRelation::different_thing;
  // The nearest pair speaks for all: what keeps even it from being compared keeps the others.
  if (!comparison.identity.pairs.empty()) comparison.identity.relation = comparison.identity.pairs.front().relation;
  comparison.exit_code = 3;
  comparison.counts = count(comparison);
  return comparison;
}

}  // namespace

Result<Comparison> compare_sources(std::span<const Source> baseline, std::span<const Source> candidate,
                                   const Options& options) {
  if (auto unique = check_launch_ids(baseline, candidate); !unique) return unique.error();
  const auto before = series_of(baseline);
  if (!before) return before.error();
  const auto after = series_of(candidate);
  if (!after) return after.error();
  Comparison out;
  out.rule = {options.alpha, options.level, options.margin, options.memory_tolerance_bytes, 0, 7, options.across};
  auto pairing = pair_up(*before, *after, {options.one_series, options.across});
  list_lonely(pairing.alone_in_baseline, "candidate", out.unmatched);
  list_lonely(pairing.alone_in_candidate, "baseline", out.unmatched);
  if (pairing.pairs.empty()) return refused(std::move(out), pairing);

  const auto matched = match_timed(pairing.pairs, out.unmatched);
  out.cases = judge_timed(pairing.pairs, matched, options, out.rule);
  for (const auto& pair : pairing.pairs) {
    match_memory(pair, options, out.memory, out.unmatched);
    note_lost_launches(pair, out.notes);
    out.identity.pairs.push_back(pair.said);
    if (!pair.said.memory_comparable && !options.across)
      out.notes.push_back("memory is not compared: " + std::string("the allocator is a different thing"));
  }
  out.identity.relation = IdentityRelation::same;
  for (const auto& pair : out.identity.pairs)
    if (static_cast<int>(pair.relation) > static_cast<int>(out.identity.relation))
      out.identity.relation = pair.relation;
  for (auto& said : out.cases)
    if (said.verdict == Verdict::regressed) accept(said, options, out.notes);
  for (auto& said : out.memory)
    if (said.verdict == MemoryVerdict::grown) accept(said, options, out.notes);
  std::stable_sort(out.cases.begin(), out.cases.end(), [](const ComparedCase& a, const ComparedCase& b) {
    return std::tuple(rank(a.verdict), -std::abs(std::log(worse(a)))) <
           std::tuple(rank(b.verdict), -std::abs(std::log(worse(b))));
  });
  std::stable_sort(out.memory.begin(), out.memory.end(), [](const ComparedMemory& a, const ComparedMemory& b) {
    return static_cast<int>(a.verdict) < static_cast<int>(b.verdict);
  });
  out.counts = count(out);
  out.exit_code = exit_code(out, baseline, candidate);
  return out;
}

}  // namespace assay::compare
