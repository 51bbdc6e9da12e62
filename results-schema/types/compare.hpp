// SPDX-License-Identifier: Apache-2.0
// The compare document as C++ values: two series, whether they may be compared, and the verdict of each case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/types/document.hpp"

namespace assay {

// A number that may be missing: null in a document; the reason stands in the object that holds it.
struct MaybeReal {
  std::optional<double> value;
  bool operator==(const MaybeReal&) const = default;
};
// Lower and upper end, or null.
struct MaybeInterval {
  std::optional<std::pair<double, double>> bounds;
  bool operator==(const MaybeInterval&) const = default;
};

enum class Verdict { regressed, improved, same, inconclusive, excluded, not_judged };
enum class Better { lower, higher };

// How two identities relate; in documents "same", "change only", "different thing", "invalid".
enum class IdentityRelation { same, change_only, different_thing, invalid };

struct ComparedField {
  std::string key;
  Tier tier = Tier::info;
  std::string baseline;
  std::string candidate;
  bool operator==(const ComparedField&) const = default;
};

struct ComparedFinding {
  std::string side;  // "baseline" or "candidate"
  std::string key;
  bool refuses = false;
  std::string text;
  bool operator==(const ComparedFinding&) const = default;
};

// One series: the launches of one plan on one identity, from one document or several.
struct ComparedSeries {
  std::string subject;  // "host x86_64", "cuda sm_90": what executed
  std::vector<std::string> documents;
  std::vector<std::string> run_ids;
  std::int64_t launches_ok = 0;
  std::int64_t launches_failed = 0;  // failed, crashed, hung or cut short
  std::int64_t boards = 0;           // each of unknown uuid counts as one
  bool operator==(const ComparedSeries&) const = default;
};

// A pair of series, one of either side, and what their identities say of it.
struct ComparedPair {
  std::string subject;
  IdentityRelation relation = IdentityRelation::invalid;
  bool memory_comparable = false;  // the allocator's policy counts for memory results
  bool same_board = false;
  bool time_confounded = false;  // one side was measured before the other: a drift of the machine looks like a change
  ComparedSeries baseline;
  ComparedSeries candidate;
  std::vector<ComparedField> fields;  // those that differ, the deciding ones first
  std::vector<ComparedFinding> findings;
  std::vector<std::string> shared_unknown;  // thing fields unknown on both sides, shared by one board in one boot
  bool operator==(const ComparedPair&) const = default;
};

struct LeftOut {
  std::string launch;  // "<run id>#<order>"
  std::string reason;
  bool operator==(const LeftOut&) const = default;
};

struct ComparedSide {
  std::vector<double> medians;  // of each launch that counts, in the order they were started
  std::vector<LeftOut> left_out;
  MaybeReal median;  // of these medians
  bool operator==(const ComparedSide&) const = default;
};

// A regression that a baseline file accepts.
struct Acceptance {
  std::string reason;
  std::string until;  // last day it holds, "2026-12-31"
  bool operator==(const Acceptance&) const = default;
};

struct ComparedCase {
  std::string name;
  std::string subject;
  std::string unit;
  Better better = Better::lower;
  Verdict verdict = Verdict::inconclusive;
  std::string reason;      // why it is inconclusive or excluded, or why a number is null
  MaybeReal ratio;         // candidate over baseline, by Hodges and Lehmann
  MaybeInterval interval;  // of that ratio
  MaybeReal p;             // exact, of ratio 1
  MaybeReal adjusted_p;    // after Holm over the family
  double margin = 0.03;
  MaybeReal drift;  // later half over earlier half of both sides together
  ComparedSide baseline;
  ComparedSide candidate;
  std::optional<std::int64_t> launches_needed;  // a side, for a verdict, if noise and effect stay as they are
  std::optional<Acceptance> accepted;
  bool anchor = false;  // shows whether the machine itself drifted; outside the family where it is used so
  bool operator==(const ComparedCase&) const = default;
};

enum class MemoryVerdict { grown, shrunk, same };

// One peak of one phase: the highest of all launches and repeats of a side. Bytes, exact.
struct ComparedMemory {
  std::string name;  // "<workload>: <phase>, peak reserved"
  std::string subject;
  std::string counter;
  std::int64_t baseline_bytes = 0;
  std::int64_t candidate_bytes = 0;
  std::int64_t tolerance_bytes = 0;
  MemoryVerdict verdict = MemoryVerdict::same;
  std::optional<Acceptance> accepted;
  bool operator==(const ComparedMemory&) const = default;
};

// What stands on one side only, or on both and is not the same case.
struct Unmatched {
  std::string name;
  std::string subject;
  std::string missing_in;  // "baseline", "candidate", or "neither" when both have it as different things
  std::string reason;
  bool operator==(const Unmatched&) const = default;
};

struct ComparedRule {
  double alpha = 0.05;
  double level = 0.95;
  double margin = 0.03;
  std::int64_t memory_tolerance_bytes = 0;
  std::int64_t family = 0;          // cases tested together
  std::int64_t launches_least = 7;  // a side, for this family
  bool across = false;              // a table without verdicts
  bool operator==(const ComparedRule&) const = default;
};

// How many of each, of time and memory together.
struct ComparedCounts {
  std::int64_t regressed = 0;
  std::int64_t accepted = 0;  // regressed or grown, and accepted
  std::int64_t improved = 0;
  std::int64_t same = 0;
  std::int64_t inconclusive = 0;
  std::int64_t excluded = 0;
  std::int64_t not_judged = 0;
  std::int64_t memory_grown = 0;
  std::int64_t memory_shrunk = 0;
  std::int64_t memory_same = 0;
  std::int64_t unmatched = 0;
  bool operator==(const ComparedCounts&) const = default;
};

struct ComparedIdentity {
  IdentityRelation relation = IdentityRelation::invalid;  // the worst of the pairs; of all where none may be compared
  std::vector<ComparedPair> pairs;
  bool operator==(const ComparedIdentity&) const = default;
};

struct Comparison {
  ComparedRule rule;
  ComparedIdentity identity;
  ComparedCounts counts;
  std::vector<ComparedCase> cases;  // regressions first, by effect
  std::vector<ComparedMemory> memory;
  std::vector<Unmatched> unmatched;
  std::vector<std::string> notes;  // what a reader must know besides
  std::int64_t exit_code = 0;      // of the command that made it
  bool operator==(const Comparison&) const = default;
};

struct CompareDocument {
  RunInfo run;
  Comparison body;
  bool operator==(const CompareDocument&) const = default;
};

}  // namespace assay
