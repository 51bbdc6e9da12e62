// SPDX-License-Identifier: Apache-2.0
// The members of the types of a compare document, as members.hpp lists those of the others.
#pragma once

#include "results-schema/json/members.hpp"
#include "results-schema/types/compare.hpp"

namespace assay::json::detail {

template <>
struct Words<Verdict> {
  static constexpr std::array<std::string_view, 6> list{"regressed",    "improved", "same",
                                                        "inconclusive", "excluded", "not judged"};
};
template <>
struct Words<Better> {
  static constexpr std::array<std::string_view, 2> list{"lower", "higher"};
};
template <>
struct Words<IdentityRelation> {
  static constexpr std::array<std::string_view, 4> list{"same", "change only", "different thing", "invalid"};
};
template <>
struct Words<MemoryVerdict> {
  static constexpr std::array<std::string_view, 3> list{"grown", "shrunk", "same"};
};

template <class A, Of<ComparedField> T>
void members(A& a, T& x) {
  a("key", x.key);
  a("tier", x.tier);
  a("baseline", x.baseline);
  a("candidate", x.candidate);
}

template <class A, Of<ComparedFinding> T>
void members(A& a, T& x) {
  a("side", x.side);
  a("key", x.key);
  a("refuses", x.refuses);
  a("text", x.text);
}

template <class A, Of<ComparedSeries> T>
void members(A& a, T& x) {
  a("subject", x.subject);
  a("documents", x.documents);
  a("run_ids", x.run_ids);
  a("launches_ok", x.launches_ok);
  a("launches_failed", x.launches_failed);
  a("boards", x.boards);
}

template <class A, Of<ComparedPair> T>
void members(A& a, T& x) {
  a("subject", x.subject);
  a("relation", x.relation);
  a("memory_comparable", x.memory_comparable);
  a("same_board", x.same_board);
  a("time_confounded", x.time_confounded);
  a("baseline", x.baseline);
  a("candidate", x.candidate);
  a("fields", x.fields);
  a("findings", x.findings);
  a("shared_unknown", x.shared_unknown);
}

template <class A, Of<LeftOut> T>
void members(A& a, T& x) {
  a("launch", x.launch);
  a("reason", x.reason);
}

template <class A, Of<ComparedSide> T>
void members(A& a, T& x) {
  a("median", x.median);
  a("medians", x.medians);
  a("left_out", x.left_out);
}

template <class A, Of<Acceptance> T>
void members(A& a, T& x) {
  a("reason", x.reason);
  a("until", x.until);
}

template <class A, Of<ComparedCase> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("subject", x.subject);
  a("verdict", x.verdict);
  a("reason", x.reason);
  a("ratio", x.ratio);
  a("interval", x.interval);
  a("unit", x.unit);
  a("better", x.better);
  a("p", x.p);
  a("adjusted_p", x.adjusted_p);
  a("margin", x.margin);
  a("drift", x.drift);
  a("baseline", x.baseline);
  a("candidate", x.candidate);
  a("launches_needed", x.launches_needed);
  a("accepted", x.accepted);
  a("anchor", x.anchor);
}

template <class A, Of<ComparedMemory> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("subject", x.subject);
  a("counter", x.counter);
  a("verdict", x.verdict);
  a("baseline_bytes", x.baseline_bytes);
  a("candidate_bytes", x.candidate_bytes);
  a("tolerance_bytes", x.tolerance_bytes);
  a("accepted", x.accepted);
}

template <class A, Of<Unmatched> T>
void members(A& a, T& x) {
  a("name", x.name);
  a("subject", x.subject);
  a("missing_in", x.missing_in);
  a("reason", x.reason);
}

template <class A, Of<ComparedRule> T>
void members(A& a, T& x) {
  a("alpha", x.alpha);
  a("level", x.level);
  a("margin", x.margin);
  a("memory_tolerance_bytes", x.memory_tolerance_bytes);
  a("family", x.family);
  a("launches_least", x.launches_least);
  a("across", x.across);
}

template <class A, Of<ComparedCounts> T>
void members(A& a, T& x) {
  a("regressed", x.regressed);
  a("accepted", x.accepted);
  a("improved", x.improved);
  a("same", x.same);
  a("inconclusive", x.inconclusive);
  a("excluded", x.excluded);
  a("not_judged", x.not_judged);
  a("memory_grown", x.memory_grown);
  a("memory_shrunk", x.memory_shrunk);
  a("memory_same", x.memory_same);
  a("unmatched", x.unmatched);
}

template <class A, Of<ComparedIdentity> T>
void members(A& a, T& x) {
  a("relation", x.relation);
  a("pairs", x.pairs);
}

template <class A, Of<Comparison> T>
void members(A& a, T& x) {
  a("identity", x.identity);
  a("rule", x.rule);
  a("counts", x.counts);
  a("cases", x.cases);
  a("memory", x.memory);
  a("unmatched", x.unmatched);
  a("notes", x.notes);
  a("exit_code", x.exit_code);
}

}  // namespace assay::json::detail
