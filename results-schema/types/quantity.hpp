// SPDX-License-Identifier: Apache-2.0
// Quantity: a number a person reads, with its unit, its basis, and a reason where it is missing.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace assay {

enum class Basis { computed, observed, assumed };

// Integers up to 2^53-1 in magnitude (documents); reals are finite. monostate is a missing value: null plus a reason.
using Number = std::variant<std::monostate, std::int64_t, double>;

struct Quantity {
  Number value;
  std::string unit;  // "bytes", "ns", "1", "tokens/s"
  Basis basis = Basis::observed;
  std::string reason;  // why the value is missing; empty when it is there

  [[nodiscard]] bool has_value() const { return value.index() != 0; }
  bool operator==(const Quantity&) const = default;
};

inline Quantity observed_bytes(std::int64_t bytes) { return {bytes, "bytes", Basis::observed, {}}; }
inline Quantity missing(std::string unit, std::string reason, Basis basis = Basis::observed) {
  return {std::monostate{}, std::move(unit), basis, std::move(reason)};
}

}  // namespace assay
