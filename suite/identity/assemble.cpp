// SPDX-License-Identifier: Apache-2.0
// Fields from several places, one place each in the registry's order.
#include "suite/identity/assemble.hpp"

#include <map>

#include "suite/identity/environment.hpp"
#include "suite/identity/findings.hpp"
#include "suite/identity/system.hpp"

namespace assay::identity {
namespace {

using Stated = std::map<std::string, IdentityField, std::less<>>;

ValidityFinding misstated(const std::string& key, const std::string& reason) {
  return {key, true, "the module " + reason + "; use a module of the program's own version"};
}

// A value beats what is no value; of two different values the first is kept and the run refused.
void take(Stated& stated, const IdentityField& field, std::vector<ValidityFinding>& findings) {
  const auto [place, fresh] = stated.emplace(field.key, field);
  if (fresh) return;
  auto& kept = place->second;
  if (field.state != FieldState::value) return;
  if (kept.state != FieldState::value) {
    kept = field;
  } else if (kept.value != field.value) {
    findings.push_back(misstated(field.key, "states '" + field.key + "' twice, as '" + text_of(kept.value) +
                                                "' and as '" + text_of(field.value) + "'"));
  }
}

Stated collect(const Parts& parts, std::vector<ValidityFinding>& findings) {
  Stated stated;
  for (const auto& field : parts.module_fields) {
    const auto* rule = find_rule(field.key);
    if (rule == nullptr || rule->scope == Scope::case_only) {
      findings.push_back(misstated(field.key, "states '" + field.key + "', which this program does not know"));
      continue;
    }
    take(stated, field, findings);
  }
  // The program's own reading of its own fields beats a module's.
  for (const auto& field : parts.program_fields)
    if (field.state == FieldState::value || !stated.contains(field.key)) stated.insert_or_assign(field.key, field);
  return stated;
}

std::string_view missing_reason(Origin origin) {
  switch (origin) {
    case Origin::build:
    case Origin::board:
    case Origin::sensor:
      return "the module does not state it";
    case Origin::program:
      return "the program did not read it";
    case Origin::plan:
      return "no plan was made: this is the device alone";
  }
  return "";
}

IdentityField settle(const FieldRule& rule, std::optional<Platform> platform, const Stated& stated) {
  IdentityField field;
  field.key = rule.key;
  field.tier = platform ? rule.tier_on(*platform) : rule.tier;
  field.value = std::string{};
  if (platform && !rule.applies_to(*platform)) {
    field.state = FieldState::not_applicable;
    field.reason = "does not exist on this platform";
    return field;
  }
  const auto found = stated.find(rule.key);
  if (found == stated.end()) {
    field.state = FieldState::unknown;
    field.reason = missing_reason(rule.origin);
    return field;
  }
  const auto tier = field.tier;
  field = found->second;
  field.tier = tier;
  if (field.state == FieldState::not_applicable) {
    field.state = FieldState::unknown;
    field.reason = "the module calls it not applicable: " + field.reason;
  }
  return field;
}

// Boards differ in what their default cap is; what a comparison needs is how far below it this one is held.
void derive_power_share(Stated& stated) {
  if (const auto share = stated.find("power_cap_share");
      share != stated.end() && share->second.state == FieldState::value)
    return;
  const auto watts = [&](std::string_view key) -> std::int64_t {
    const auto found = stated.find(key);
    if (found == stated.end() || found->second.state != FieldState::value) return 0;
    const auto* number = std::get_if<std::int64_t>(&found->second.value);
    return number == nullptr ? 0 : *number;
  };
  const auto cap = watts("power_cap_watts");
  const auto usual = watts("power_cap_default_watts");
  if (cap > 0 && usual > 0)
    stated.insert_or_assign("power_cap_share",
                            value_field("power_cap_share", (cap * 1000 + usual / 2) / usual, "power_cap_watts"));
}

// A machine has no board with an id of its own for its processors: the machine stands for it.
void derive_host_uuid(Stated& stated) {
  const auto machine = stated.find("machine_id");
  if (machine == stated.end() || machine->second.state != FieldState::value) return;
  if (const auto uuid = stated.find("uuid"); uuid != stated.end() && uuid->second.state == FieldState::value) return;
  stated.insert_or_assign("uuid", value_field("uuid", "host:" + text_of(machine->second.value), "machine_id"));
}

}  // namespace

Identity assemble(const Parts& parts) {
  Identity identity;
  std::vector<ValidityFinding> misstatements;
  auto stated = collect(parts, misstatements);
  std::optional<Platform> platform;
  if (const auto found = stated.find("platform"); found != stated.end() && found->second.state == FieldState::value)
    platform = parse_platform(text_of(found->second.value));
  derive_power_share(stated);
  if (platform == Platform::cpu) derive_host_uuid(stated);
  for (const auto& rule : kFieldRules)
    if (rule.scope != Scope::case_only) identity.fields.push_back(settle(rule, platform, stated));
  for (auto& field : read_environment(parts.environment, platform.value_or(Platform::cpu)))
    identity.fields.push_back(std::move(field));
  identity.findings = findings_of(identity);
  identity.findings.insert(identity.findings.end(), misstatements.begin(), misstatements.end());
  return identity;
}

std::optional<Platform> platform_of(const Identity& identity) {
  const auto text = text_value(identity, "platform");
  return text ? parse_platform(*text) : std::nullopt;
}

std::string text_of(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<bool>(value) ? "yes" : "no";
}

std::string shown(const IdentityField& field) {
  if (field.state == FieldState::value) return text_of(field.value);
  if (field.state == FieldState::not_applicable) return "not_applicable";
  return "unknown (" + field.reason + ")";
}

std::optional<std::string> text_value(const Identity& identity, std::string_view key) {
  const auto* field = identity.find(key);
  if (field == nullptr || field->state != FieldState::value) return std::nullopt;
  const auto* text = std::get_if<std::string>(&field->value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<std::int64_t> integer_value(const Identity& identity, std::string_view key) {
  const auto* field = identity.find(key);
  if (field == nullptr || field->state != FieldState::value) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(&field->value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

}  // namespace assay::identity
