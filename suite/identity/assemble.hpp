// SPDX-License-Identifier: Apache-2.0
// assemble: what module, system and environment state, made into one Identity in registry order, with its findings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/identity_fields.hpp"

namespace assay::identity {

// Everything an identity is made of. Tiers in here do not count: the registry's do.
struct Parts {
  std::vector<IdentityField> module_fields;   // of describe() and device_identity(), in that order
  std::vector<IdentityField> program_fields;  // read_system(), the module's file, the plan
  std::vector<std::string> environment;       // "NAME=VALUE" entries; current_environment()
};

// The identity. Every key of the registry stands in it exactly once, except those of one case; env.NAME follow for the
// listed variables that were set. A field that is nobody's on this platform is not_applicable; a missing one, or one a
// module calls not_applicable without the registry saying so, is unknown. Pure; never fails: what does not fit becomes
// a finding that refuses.
[[nodiscard]] Identity assemble(const Parts& parts);

// The platform an identity states, or nothing when it states none that is known.
[[nodiscard]] std::optional<Platform> platform_of(const Identity& identity);

// A value as people read it: text as it is, integers in decimals, "yes" or "no".
[[nodiscard]] std::string text_of(const FieldValue& value);

// The value of a field, "not_applicable", or "unknown (reason)".
[[nodiscard]] std::string shown(const IdentityField& field);

// The text or integer of a field that has one.
[[nodiscard]] std::optional<std::string> text_value(const Identity& identity, std::string_view key);
[[nodiscard]] std::optional<std::int64_t> integer_value(const Identity& identity, std::string_view key);

}  // namespace assay::identity
