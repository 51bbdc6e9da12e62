// SPDX-License-Identifier: Apache-2.0
// compare: whether two identities are the same thing, the same thing after a change, different things, or invalid.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/identity_fields.hpp"

namespace assay::identity {

enum class Relation { same, change_only, different_thing, invalid };

// "same", "change only", "different thing", "invalid".
[[nodiscard]] std::string_view to_text(Relation relation);

// A field on which the two sides are not known to agree; both sides as people read them.
struct Difference {
  std::string key;
  Tier tier = Tier::info;
  std::string a;
  std::string b;
  bool operator==(const Difference&) const = default;
};

// A reason that forbids or marks, and the side it stands on.
struct SidedFinding {
  char side = 'a';  // 'a' or 'b'
  ValidityFinding finding;
  bool operator==(const SidedFinding&) const = default;
};

struct ComparisonContext {
  // Both come from launches of one series: only then may they share an unknown `thing` field, and only on one board in
  // one boot, which compare() checks itself.
  bool one_series = false;
  // Memory results are compared: the allocator's policy and parameters count.
  bool memory_results = false;
};

struct Comparison {
  Relation relation = Relation::invalid;
  std::vector<Difference> things;   // why they are different things
  std::vector<Difference> changes;  // what changed between them
  std::vector<Difference> details;  // information that differs and decides nothing
  std::vector<SidedFinding> refusals;
  std::vector<SidedFinding> marks;
  std::vector<std::string> shared_unknown;  // `thing` fields unknown on both sides and taken as shared by one series
  bool same_board = false;                  // the uuid is known on both sides and equal
};

// Pure and symmetric up to the sides. An unknown `thing` field equals nothing, another unknown included (LAW); an
// unknown `change` field is listed as a change unless both are unknown for the same reason. A key that one side lacks
// is unknown there; an env.NAME that is absent was unset. Tiers are the registry's, not the documents'.
[[nodiscard]] Comparison compare(const Identity& a, const Identity& b, const ComparisonContext& context = {});

// The same rule for the fields of two cases (Scope::case_only): `things` empty means they are the same case.
[[nodiscard]] Comparison compare_cases(std::span<const IdentityField> a, std::span<const IdentityField> b,
                                       Platform platform);

}  // namespace assay::identity
