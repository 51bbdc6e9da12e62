// SPDX-License-Identifier: Apache-2.0
// Pairing by identity, and what each pair says of its sides, its boards and its times.
#include "suite/compare/pairs.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace assay::compare {
namespace {

IdentityRelation relation_of(identity::Relation relation) {
  switch (relation) {
    case identity::Relation::same:
      return IdentityRelation::same;
    case identity::Relation::change_only:
      return IdentityRelation::change_only;
    case identity::Relation::different_thing:
      return IdentityRelation::different_thing;
    case identity::Relation::invalid:
      break;
  }
  return IdentityRelation::invalid;
}

ComparedSeries described(const Series& series) {
  ComparedSeries out;
  out.subject = series.subject;
  out.boards = static_cast<std::int64_t>(series.boards.size());
  for (const auto& part : series.parts) {
    const auto add = [](std::vector<std::string>& list, const std::string& text) {
      if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
    };
    add(out.documents, part.source->path);
    add(out.run_ids, part.source->document.run.id);
    for (const auto& launch : part.section->launches)
      ++(launch.outcome == LaunchOutcome::ok ? out.launches_ok : out.launches_failed);
  }
  return out;
}

bool on_one_board(const Series& a, const Series& b) {
  return a.boards.size() == 1 && a.boards == b.boards && !a.boards.front().empty();
}

// Whether the launches of the two sides do not alternate in time: fewer changes of side than half the launches of the
// smaller one. A B B A B B A... has as many changes as launches, first all of A and then all of B has one.
bool time_confounded(const Series& baseline, const Series& candidate) {
  struct Start {
    std::string time;
    std::int64_t order;
    std::size_t side;
  };
  std::vector<Start> starts;
  std::array<std::size_t, 2> count{};
  for (const std::size_t side : {0U, 1U})
    for (const auto& part : (side == 0 ? baseline : candidate).parts)
      for (const auto& launch : part.section->launches) {
        starts.push_back({launch.started_at, launch.order, side});
        ++count[side];
      }
  std::sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
    return std::tie(a.time, a.order, a.side) < std::tie(b.time, b.order, b.side);
  });
  std::size_t changes = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) changes += starts[i].side != starts[i - 1].side ? 1U : 0U;
  return changes <= 1 || 2 * changes < std::min(count[0], count[1]);
}

void add_fields(ComparedPair& pair, const identity::Comparison& comparison) {
  for (const auto* list : {&comparison.things, &comparison.changes, &comparison.details})
    for (const auto& difference : *list)
      pair.fields.push_back({difference.key, difference.tier, difference.a, difference.b});
  for (const auto* list : {&comparison.refusals, &comparison.marks})
    for (const auto& sided : *list)
      pair.findings.push_back(
          {sided.side == 'a' ? "baseline" : "candidate", sided.finding.key, sided.finding.refuses, sided.finding.text});
  pair.shared_unknown = comparison.shared_unknown;
}

ComparedPair pair_of(const Series& baseline, const Series& candidate, bool one_series) {
  ComparedPair pair;
  const auto comparison = identity::compare(baseline.identity(), candidate.identity(), {one_series, false});
  const auto memory = identity::compare(baseline.identity(), candidate.identity(), {one_series, true});
  pair.subject = candidate.subject;
  pair.relation = relation_of(comparison.relation);
  pair.memory_comparable =
      memory.relation == identity::Relation::same || memory.relation == identity::Relation::change_only;
  pair.same_board = on_one_board(baseline, candidate);
  pair.time_confounded = time_confounded(baseline, candidate);
  pair.baseline = described(baseline);
  pair.candidate = described(candidate);
  add_fields(pair, comparison);
  // What only memory results care about stands behind the rest.
  for (const auto* list : {&memory.things, &memory.changes})
    for (const auto& difference : *list)
      if (std::none_of(pair.fields.begin(), pair.fields.end(),
                       [&](const ComparedField& known) { return known.key == difference.key; }))
        pair.fields.push_back({difference.key, difference.tier, difference.a, difference.b});
  return pair;
}

bool may_stand(const ComparedPair& pair, bool across) {
  if (pair.relation == IdentityRelation::invalid) return false;
  return across || pair.relation != IdentityRelation::different_thing;
}

// Nearest first: relation, then how many fields of weight differ.
std::pair<int, std::size_t> distance(const ComparedPair& pair) {
  const auto weighty = std::count_if(pair.fields.begin(), pair.fields.end(),
                                     [](const ComparedField& field) { return field.tier != Tier::info; });
  return {static_cast<int>(pair.relation), static_cast<std::size_t>(weighty)};
}

}  // namespace

Pairing pair_up(const std::vector<Series>& baseline, const std::vector<Series>& candidate,
                const PairingOptions& options) {
  struct Possible {
    std::size_t a;
    std::size_t b;
    ComparedPair said;
  };
  std::vector<Possible> all;
  for (std::size_t a = 0; a < baseline.size(); ++a)
    for (std::size_t b = 0; b < candidate.size(); ++b)
      all.push_back({a, b, pair_of(baseline[a], candidate[b], options.one_series)});
  std::stable_sort(all.begin(), all.end(),
                   [](const Possible& x, const Possible& y) { return distance(x.said) < distance(y.said); });
  Pairing out;
  std::vector<bool> used_a(baseline.size(), false);
  std::vector<bool> used_b(candidate.size(), false);
  for (auto& possible : all) {
    if (used_a[possible.a] || used_b[possible.b] || !may_stand(possible.said, options.across)) continue;
    used_a[possible.a] = used_b[possible.b] = true;
    out.pairs.push_back({&baseline[possible.a], &candidate[possible.b], std::move(possible.said)});
  }
  for (std::size_t b = 0; b < candidate.size(); ++b) {
    if (used_b[b]) continue;
    out.alone_in_candidate.push_back(&candidate[b]);
    const auto nearest = std::find_if(all.begin(), all.end(),
                                      [&](const Possible& p) { return p.b == b && !p.said.baseline.subject.empty(); });
    if (nearest != all.end()) out.refused.push_back(nearest->said);
  }
  for (std::size_t a = 0; a < baseline.size(); ++a)
    if (!used_a[a]) out.alone_in_baseline.push_back(&baseline[a]);
  return out;
}

}  // namespace assay::compare
