// SPDX-License-Identifier: Apache-2.0
// The published schema files, compiled in, and validation against them.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "results-schema/json/guard.hpp"

namespace assay::json::detail {

// File name and text of every schema file of v1, as CMake embedded them.
const std::vector<std::pair<std::string_view, std::string_view>>& embedded_schemas();

// The parts of the schema that stand for a whole input.
enum class SchemaPart { document, plan, identity };

// Thread safe. `value` must come from parse() or encode(): validation recurses as deep as the value is nested.
// 1000.0 is not an integer here, although draft 7 says it is. Errors: bad_input with the JSON pointer of the violation.
Result<void> check_schema(const Json& value, SchemaPart part, std::string_view name);

}  // namespace assay::json::detail
