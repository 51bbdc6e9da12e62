// SPDX-License-Identifier: Apache-2.0
// Canned identities: what modules of several machines would state, for the fake module and the tests that judge it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::canned {

enum class Kind { text, integer, boolean, unknown };

struct Field {
  std::string key;
  Kind kind = Kind::text;
  std::string text;  // the reason of an unknown one
  std::int64_t integer = 0;
};

// What a module would state in the named situation, build and device fields together; empty when there is no such name.
[[nodiscard]] std::vector<Field> fields_of(std::string_view name);

}  // namespace assay::canned
