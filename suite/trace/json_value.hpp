// SPDX-License-Identifier: Apache-2.0
// A JSON file read piece by piece into plain values, leaving out the parts a replay does not need.
#pragma once

#include <functional>
#include <string_view>

#include "suite/trace/input.hpp"
#include "suite/trace/value.hpp"

namespace assay::trace {

// Reads one JSON text. Members whose key `skip` names are parsed but not kept.
// Errors: bad_input with file and byte: malformed, deeper than 64, an integer beyond 64 bits.
struct JsonOptions {
  std::function<bool(std::string_view key)> skip;
};
Result<Value> read_json(Input& input, Arena& arena, const JsonOptions& options);

}  // namespace assay::trace
