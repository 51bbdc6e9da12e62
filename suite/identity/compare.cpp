// SPDX-License-Identifier: Apache-2.0
// One walk over the registry, one over the variables that were set.
#include "suite/identity/compare.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "suite/identity/assemble.hpp"
#include "suite/identity/environment.hpp"
#include "suite/identity/findings.hpp"

namespace assay::identity {

std::string_view to_text(Relation relation) {
  switch (relation) {
    case Relation::same:
      return "same";
    case Relation::change_only:
      return "change only";
    case Relation::different_thing:
      return "different thing";
    case Relation::invalid:
      return "invalid";
  }
  return "invalid";
}

namespace {

constexpr std::string_view kNotStated = "the document does not state it";

const IdentityField* find_in(std::span<const IdentityField> fields, std::string_view key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

// The field as the rules see it: absent is unknown, and not_applicable holds only where the registry says so.
IdentityField view(std::span<const IdentityField> fields, const FieldRule& rule, std::optional<Platform> platform) {
  IdentityField field;
  if (const auto* found = find_in(fields, rule.key); found != nullptr) {
    field = *found;
  } else {
    field.key = rule.key;
    field.reason = kNotStated;
    if (platform && !rule.applies_to(*platform)) field.state = FieldState::not_applicable;
  }
  if (field.state == FieldState::not_applicable && platform && rule.applies_to(*platform)) {
    field.state = FieldState::unknown;
    field.reason = "not_applicable without reason";
  }
  return field;
}

// A whole board given to a virtual machine is the same thing as the board outside one.
std::string board_word(const IdentityField& field) {
  const auto text = text_of(field.value);
  return text == "passthrough" ? "none" : text;
}

bool equal_values(const IdentityField& a, const IdentityField& b) {
  if (a.key == "virtualization") return board_word(a) == board_word(b);
  return a.value == b.value;
}

enum class Agreement { agree, differ, both_unknown };

Agreement agreement(const IdentityField& a, const IdentityField& b) {
  if (a.state == FieldState::unknown && b.state == FieldState::unknown) return Agreement::both_unknown;
  if (a.state != b.state) return Agreement::differ;
  if (a.state == FieldState::not_applicable) return Agreement::agree;
  return equal_values(a, b) ? Agreement::agree : Agreement::differ;
}

// Where the two platforms give a field different weight, the heavier one holds. Tier's order is its weight.
Tier heavier(Tier a, Tier b) {
  return static_cast<int>(a) < static_cast<int>(b) ? a : b;
}

Tier tier_of(const FieldRule& rule, std::optional<Platform> a, std::optional<Platform> b) {
  return heavier(a ? rule.tier_on(*a) : rule.tier, b ? rule.tier_on(*b) : rule.tier);
}

void file(Comparison& result, Difference difference) {
  switch (difference.tier) {
    case Tier::thing:
      result.things.push_back(std::move(difference));
      break;
    case Tier::change:
      result.changes.push_back(std::move(difference));
      break;
    case Tier::info:
      result.details.push_back(std::move(difference));
      break;
    case Tier::validity:
      break;  // findings speak for these
  }
}

void compare_field(Comparison& result, Tier tier, const IdentityField& a, const IdentityField& b, bool may_share) {
  switch (agreement(a, b)) {
    case Agreement::agree:
      return;
    case Agreement::differ:
      break;
    case Agreement::both_unknown:
      if (tier == Tier::thing && may_share) {
        result.shared_unknown.push_back(a.key);
        return;
      }
      // Below the tier that decides, two gaps of one kind are no news.
      if (tier != Tier::thing && a.reason == b.reason) return;
      break;
  }
  file(result, {a.key, tier, shown(a), shown(b)});
}

std::string shown_variable(const IdentityField* field) {
  return field == nullptr ? "unset" : "'" + text_of(field->value) + "'";
}

void compare_environment(Comparison& result, const Identity& a, const Identity& b, std::optional<Platform> platform_a,
                         std::optional<Platform> platform_b) {
  std::set<std::string> keys;
  for (const auto* side : {&a, &b})
    for (const auto& field : side->fields)
      if (field.key.starts_with("env.")) keys.insert(field.key);
  for (const auto& key : keys) {
    const auto* left = a.find(key);
    const auto* right = b.find(key);
    if (left != nullptr && right != nullptr && left->value == right->value) continue;
    Tier tier = Tier::change;  // a variable of another version's list
    if (const auto* rule = find_environment_rule(std::string_view(key).substr(4)); rule != nullptr) {
      const auto on = [&](std::optional<Platform> platform) {
        return platform ? environment_tier(*rule, *platform) : rule->tier;
      };
      tier = heavier(on(platform_a), on(platform_b));
    }
    file(result, {key, tier, shown_variable(left), shown_variable(right)});
  }
}

bool known_and_equal(const Identity& a, const Identity& b, std::string_view key) {
  const auto* left = a.find(key);
  const auto* right = b.find(key);
  return left != nullptr && right != nullptr && left->state == FieldState::value && right->state == FieldState::value &&
         left->value == right->value;
}

// A key that stands twice, or one that no rule knows and that may therefore decide something.
void check_form(Comparison& result, const Identity& identity, char side) {
  std::set<std::string_view> seen;
  for (const auto& field : identity.fields) {
    if (!seen.insert(field.key).second)
      result.refusals.push_back({side, {field.key, true, "field '" + field.key + "' stands twice in this identity"}});
    else if (!field.key.starts_with("env.") && find_rule(field.key) == nullptr)
      result.refusals.push_back(
          {side, {field.key, true, "field '" + field.key + "' is unknown to this version; compare with a newer one"}});
  }
}

// The identity's own findings, and those its fields show whatever a document says: a finding cannot be edited away.
void sort_findings(Comparison& result, const Identity& identity, char side) {
  auto all = identity.findings;
  for (auto& finding : findings_of(identity))
    if (std::none_of(all.begin(), all.end(),
                     [&](const auto& known) { return known.key == finding.key && known.refuses == finding.refuses; }))
      all.push_back(std::move(finding));
  for (auto& finding : all) (finding.refuses ? result.refusals : result.marks).push_back({side, std::move(finding)});
}

Relation relation_of(const Comparison& result) {
  if (!result.refusals.empty()) return Relation::invalid;
  if (!result.things.empty()) return Relation::different_thing;
  return result.changes.empty() ? Relation::same : Relation::change_only;
}

}  // namespace

Comparison compare(const Identity& a, const Identity& b, const ComparisonContext& context) {
  Comparison result;
  const auto platform_a = platform_of(a);
  const auto platform_b = platform_of(b);
  result.same_board = known_and_equal(a, b, "uuid");
  const bool may_share = context.one_series && result.same_board && known_and_equal(a, b, "boot_id");
  for (const auto& rule : kFieldRules) {
    if (rule.scope == Scope::case_only) continue;
    if (rule.scope == Scope::memory_only && !context.memory_results) continue;
    compare_field(result, tier_of(rule, platform_a, platform_b), view(a.fields, rule, platform_a),
                  view(b.fields, rule, platform_b), may_share);
  }
  compare_environment(result, a, b, platform_a, platform_b);
  check_form(result, a, 'a');
  check_form(result, b, 'b');
  sort_findings(result, a, 'a');
  sort_findings(result, b, 'b');
  result.relation = relation_of(result);
  return result;
}

Comparison compare_cases(std::span<const IdentityField> a, std::span<const IdentityField> b, Platform platform) {
  Comparison result;
  for (const auto& rule : kFieldRules)
    if (rule.scope == Scope::case_only)
      compare_field(result, rule.tier_on(platform), view(a, rule, platform), view(b, rule, platform), false);
  result.relation = relation_of(result);
  return result;
}

}  // namespace assay::identity
