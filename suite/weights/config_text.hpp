// SPDX-License-Identifier: Apache-2.0
// A model's JSON configuration as a tree; NaN and Infinity, which some exporters write, become null and are named.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::weights {

struct UnknownField {
  std::string field;  // the member whose value it is (or in whose list it stands)
  std::string value;  // "NaN", "Infinity", "-Infinity"
  std::size_t byte = 0;
};

// Parses the text; every bare NaN or Infinity is replaced by null and listed. Errors: bad_input.
Result<nlohmann::ordered_json> parse_config_text(std::string_view text, std::string_view name,
                                                 std::vector<UnknownField>& unknown);

}  // namespace assay::weights
