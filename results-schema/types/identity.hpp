// SPDX-License-Identifier: Apache-2.0
// Identity: the typed record of what executed, field by field, each with its tier and its state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

// What a difference in a field means (design section 6).
enum class Tier { thing, change, info, validity };
enum class FieldState { value, not_applicable, unknown };
using FieldValue = std::variant<std::string, std::int64_t, bool>;

struct IdentityField {
  std::string key;
  Tier tier = Tier::info;
  FieldState state = FieldState::unknown;
  FieldValue value;    // meaningful when state is value
  std::string reason;  // required when state is not value
  std::string source;  // where it was read
  bool operator==(const IdentityField&) const = default;
};

// A reason to refuse (exit 3) or to mark a run, e.g. a vendor mismatch or a throttled board.
struct ValidityFinding {
  std::string key;
  bool refuses = false;
  std::string text;  // one sentence
  bool operator==(const ValidityFinding&) const = default;
};

struct Identity {
  std::vector<IdentityField> fields;  // in registry order, each key once
  std::vector<ValidityFinding> findings;

  [[nodiscard]] const IdentityField* find(std::string_view key) const {
    for (const auto& field : fields)
      if (field.key == key) return &field;
    return nullptr;
  }
  bool operator==(const Identity&) const = default;
};

}  // namespace assay
