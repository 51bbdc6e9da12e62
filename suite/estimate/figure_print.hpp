// SPDX-License-Identifier: Apache-2.0
// One figure as a line of text and as members of a JSON object.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "suite/estimate/estimate.hpp"

namespace assay::estimate {

// Two lines: label, value with units and basis; then "= formula = numbers".
void put_line(std::string& out, std::string_view label, const Figure& figure, bool bytes = true);

// object[name], and object["formula"][name], ["basis"][name], ["inputs"][name] or, for a missing value,
// ["reason"][name].
void put_member(nlohmann::ordered_json& object, const char* name, const Figure& figure);

// The members that every estimate has: parameters, weights, kv_cache, total_bytes, the reserve.
void put_estimate(nlohmann::ordered_json& root, const Estimate& estimate);

}  // namespace assay::estimate
