// SPDX-License-Identifier: Apache-2.0
// The environment variables that can change what is measured: an allow-list, what each means, and what was set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/identity_fields.hpp"

namespace assay::identity {

// Grows whenever the list or the meaning of an entry changes; it is the field `environment_list`.
inline constexpr std::int64_t kEnvironmentListVersion = 1;

// When a variable that is set makes a finding.
enum class EnvironmentFinding {
  none,
  marks,                 // whatever its value
  refuses,               // whatever its value, an empty one included
  refuses_unless_empty,  // a list of files or tools: empty loads nothing
  refuses_unless_off     // a debug switch: empty and 0 leave it off
};

struct EnvironmentRule {
  std::string_view name;  // a name, or a prefix that ends in '*'
  Tier tier;
  std::uint8_t platforms;  // bits of Platform; elsewhere the variable is recorded as information
  EnvironmentFinding finding;
  std::string_view effect;  // what it does to a measurement, as the end of a sentence
};

[[nodiscard]] std::span<const EnvironmentRule> environment_rules();

// The rule for a variable, an exact name before a prefix; nullptr when it is not on the list.
[[nodiscard]] const EnvironmentRule* find_environment_rule(std::string_view name);

// The tier of a set variable on a platform.
[[nodiscard]] Tier environment_tier(const EnvironmentRule& rule, Platform platform);

// One field env.NAME for each variable of the list that is set, sorted by name, values as they are (an empty one too).
// A variable without a field was unset. `entries` are "NAME=VALUE" lines, e.g. of `current_environment()`.
[[nodiscard]] std::vector<IdentityField> read_environment(std::span<const std::string> entries, Platform platform);

// The environment of this process.
[[nodiscard]] std::vector<std::string> current_environment();

}  // namespace assay::identity
