// SPDX-License-Identifier: Apache-2.0
// Matching by name and things, and the family of verdicts.
#include "suite/compare/timed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "suite/compare/boards.hpp"
#include "suite/compare/rule.hpp"
#include "suite/stats/family.hpp"
#include "suite/stats/summary.hpp"

namespace assay::compare {
namespace {

// Pairs the entries of two lists by key. What has no partner is unmatched; one whose name has a partner with other
// things says in which.
template <class Case, class Take>
void match(const std::vector<Case>& baseline, const std::vector<Case>& candidate, const std::string& subject, Take take,
           std::vector<Unmatched>& unmatched) {
  std::multimap<std::string, std::size_t> places;
  for (std::size_t i = 0; i < baseline.size(); ++i) places.emplace(baseline[i].key.name, i);
  std::vector<bool> used(baseline.size(), false);
  std::vector<bool> told(baseline.size(), false);
  std::vector<std::size_t> lonely;
  for (std::size_t j = 0; j < candidate.size(); ++j) {
    const auto [first, last] = places.equal_range(candidate[j].key.name);
    const auto fits = std::find_if(first, last, [&](const auto& place) {
      return !used[place.second] && difference(baseline[place.second].key, candidate[j].key).empty();
    });
    if (fits == last) {
      lonely.push_back(j);
      continue;
    }
    used[fits->second] = true;
    take(baseline[fits->second], candidate[j]);
  }
  for (const std::size_t j : lonely) {
    const auto [first, last] = places.equal_range(candidate[j].key.name);
    const auto other =
        std::find_if(first, last, [&](const auto& place) { return !used[place.second] && !told[place.second]; });
    if (other == last) {
      unmatched.push_back({candidate[j].key.name, subject, "baseline", "the baseline has no such case"});
      continue;
    }
    told[other->second] = true;
    unmatched.push_back({candidate[j].key.name, subject, "neither",
                         "not the same case: " + difference(baseline[other->second].key, candidate[j].key)});
  }
  for (std::size_t i = 0; i < baseline.size(); ++i)
    if (!used[i] && !told[i])
      unmatched.push_back({baseline[i].key.name, subject, "candidate", "the candidate has no such case"});
}

ComparedSide side_of(const TimedCase& timed) {
  ComparedSide side;
  side.medians = medians_of(timed);
  side.left_out = timed.left_out;
  if (!side.medians.empty()) side.median.value = stats::median(side.medians);
  return side;
}

std::optional<double> late_over_early(const std::vector<double>& medians) {
  if (medians.size() < 4) return std::nullopt;
  const auto half = static_cast<std::ptrdiff_t>(medians.size() / 2);
  return stats::median({medians.end() - half, medians.end()}) /
         stats::median({medians.begin(), medians.begin() + half});
}

MaybeReal drift_of(const ComparedCase& said) {
  const auto a = late_over_early(said.baseline.medians);
  const auto b = late_over_early(said.candidate.medians);
  if (!a || !b) return {};
  return {std::sqrt(*a * *b)};
}

// Excluded before anything is tested; empty where the case belongs to the family.
std::string exclusion(const Matched& matched) {
  for (const auto* side : {&matched.baseline, &matched.candidate})
    if (!side->wrong.empty())
      return fmt::format("a result is wrong in the {}: {}", side == &matched.baseline ? "baseline" : "candidate",
                         side->wrong);
  return {};
}

class Family {
 public:
  Family(const std::vector<Pair>& pairs, const std::vector<Matched>& matched, const Options& options,
         ComparedRule& rule)
      : pairs_(pairs), matched_(matched), options_(options), rule_(rule) {}

  std::vector<ComparedCase> judged() {
    for (const auto& entry : matched_) describe(entry);
    for (std::size_t i = 0; i < matched_.size(); ++i) {
      auto& said = out_[i];
      if (const auto why = exclusion(matched_[i]); !why.empty()) {
        said.verdict = Verdict::excluded;
        said.reason = why;
      } else {
        (said.anchor ? anchors_ : members_).push_back(i);
      }
    }
    judge_members(anchors_, false);
    judge_members(members_, true);
    rule_.launches_least = static_cast<std::int64_t>(
        stats::launches_for_family(options_.alpha, static_cast<std::size_t>(std::max<std::int64_t>(rule_.family, 1))));
    for (const auto i : anchors_) hold_boards(i);
    for (const auto i : members_) {
      hold_boards(i);
      hold_anchor(i);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool confounded(std::size_t i) const { return pairs_[matched_[i].pair].said.time_confounded; }

  void describe(const Matched& entry) {
    ComparedCase said;
    said.name = entry.candidate.key.name;
    said.subject = pairs_[entry.pair].said.subject;
    said.unit = entry.candidate.unit;
    said.better = entry.candidate.better;
    said.anchor = entry.candidate.anchor && pairs_[entry.pair].said.time_confounded;
    said.margin = options_.baseline.margin_of(said.name, options_.margin);
    said.baseline = side_of(entry.baseline);
    said.candidate = side_of(entry.candidate);
    said.drift = drift_of(said);
    out_.push_back(std::move(said));
  }

  void judge_members(const std::vector<std::size_t>& members, bool family) {
    std::vector<Aligned> values;
    for (const auto i : members) {
      const auto& entry = matched_[i];
      values.push_back(boards_of(entry.baseline, entry.candidate).same_boards
                           ? aligned(entry.baseline, entry.candidate)
                           : Aligned{out_[i].baseline.medians, out_[i].candidate.medians});
    }
    std::vector<Measured> measured;
    for (std::size_t k = 0; k < members.size(); ++k)
      measured.push_back({values[k].baseline, values[k].candidate, out_[members[k]].better, out_[members[k]].margin});
    std::size_t size = 0;
    const auto judged = judge(measured, {options_.alpha, options_.level}, tables_, &size);
    if (family) rule_.family = static_cast<std::int64_t>(size);
    for (std::size_t k = 0; k < members.size(); ++k) take(out_[members[k]], judged[k]);
  }

  void take(ComparedCase& said, const Judged& judged) const {
    said.verdict = judged.verdict;
    said.reason = judged.reason;
    said.p.value = judged.p;
    said.adjusted_p.value = judged.adjusted_p;
    if (judged.ratio) {
      said.ratio.value = judged.ratio->estimate;
      if (judged.ratio->interval) said.interval.bounds = {judged.ratio->interval->low, judged.ratio->interval->high};
    }
    if (judged.launches_needed) said.launches_needed = static_cast<std::int64_t>(*judged.launches_needed);
    if (options_.across) {
      said.verdict = Verdict::not_judged;
      said.reason = said.ratio.value ? "" : said.reason;
    }
  }

  static void make_inconclusive(ComparedCase& said, std::string why) {
    if (said.verdict == Verdict::excluded || said.verdict == Verdict::not_judged) return;
    if (said.verdict == Verdict::inconclusive && !said.reason.empty() &&
        !(said.baseline.medians.size() >= stats::kFewestLaunches &&
          said.candidate.medians.size() >= stats::kFewestLaunches))
      return;  // too few launches is the plainer reason
    said.verdict = Verdict::inconclusive;
    said.reason = std::move(why);
  }

  void hold_boards(std::size_t i) {
    auto& said = out_[i];
    const auto view = boards_of(matched_[i].baseline, matched_[i].candidate);
    if (view.one_board) return;
    if (std::min(view.baseline, view.candidate) < kFewestBoards)
      return make_inconclusive(said, fmt::format("different boards: {} and {}, and {} a side are needed", view.baseline,
                                                 view.candidate, kFewestBoards));
    if (view.same_boards || (said.verdict != Verdict::regressed && said.verdict != Verdict::improved)) return;
    const int direction = *said.ratio.value > 1 ? 1 : -1;
    if (separated(matched_[i].baseline, matched_[i].candidate) != direction)
      make_inconclusive(said, "different boards: those of one side overlap those of the other");
  }

  void hold_anchor(std::size_t i) {
    if (!confounded(i)) return;
    const auto anchor = std::find_if(anchors_.begin(), anchors_.end(),
                                     [&](std::size_t a) { return matched_[a].pair == matched_[i].pair; });
    if (anchor == anchors_.end())
      return make_inconclusive(out_[i],
                               "time-confounded: one side was measured before the other, and no anchor case shows "
                               "whether the machine drifted");
    if (out_[*anchor].verdict != Verdict::same)
      make_inconclusive(out_[i], fmt::format("time-confounded: one side was measured before the other, and the anchor "
                                             "{} is not the same",
                                             out_[*anchor].name));
  }

  const std::vector<Pair>& pairs_;
  const std::vector<Matched>& matched_;
  const Options& options_;
  ComparedRule& rule_;
  std::vector<ComparedCase> out_;
  std::vector<std::size_t> members_;
  std::vector<std::size_t> anchors_;
  stats::RankTables tables_;
};

}  // namespace

std::vector<Matched> match_timed(const std::vector<Pair>& pairs, std::vector<Unmatched>& unmatched) {
  std::vector<Matched> out;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    match(
        timed_cases(*pairs[i].baseline), timed_cases(*pairs[i].candidate), pairs[i].said.subject,
        [&](const TimedCase& a, const TimedCase& b) {
          out.push_back({i, a, b});
        },
        unmatched);
  return out;
}

std::vector<ComparedCase> judge_timed(const std::vector<Pair>& pairs, const std::vector<Matched>& matched,
                                      const Options& options, ComparedRule& rule) {
  return Family(pairs, matched, options, rule).judged();
}

void match_memory(const Pair& pair, const Options& options, std::vector<ComparedMemory>& memory,
                  std::vector<Unmatched>& unmatched) {
  if (options.across || !pair.said.memory_comparable) return;
  match(
      memory_cases(*pair.baseline), memory_cases(*pair.candidate), pair.said.subject,
      [&](const MemoryCase& a, const MemoryCase& b) {
        ComparedMemory said{b.key.name,          pair.said.subject,
                            b.counter,           a.highest,
                            b.highest,           options.memory_tolerance_bytes,
                            MemoryVerdict::same, {}};
        if (b.highest > a.highest + options.memory_tolerance_bytes) said.verdict = MemoryVerdict::grown;
        if (b.highest < a.highest - options.memory_tolerance_bytes) said.verdict = MemoryVerdict::shrunk;
        memory.push_back(std::move(said));
      },
      unmatched);
}

}  // namespace assay::compare
