// SPDX-License-Identifier: Apache-2.0
// Small words shared by the files of this folder: the JSON value type and how failures are worded.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "results-schema/types/result.hpp"

namespace assay::json::detail {

using Json = nlohmann::ordered_json;

inline Error bad_input(std::string text) {
  return {ErrorCode::bad_input, std::move(text)};
}
inline Error output_error(std::string text) {
  return {ErrorCode::output, std::move(text)};
}
inline Error internal_error(std::string text) {
  return {ErrorCode::internal, std::move(text)};
}

// `text` as one printable ASCII line of at most `limit` characters: what came from a file is never echoed raw.
inline std::string printable(std::string_view text, std::size_t limit = 120) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) return out + "...";
    out += (c >= ' ' && c < '\x7f') ? c : '?';
  }
  return out;
}

// Text of a value: bytes that are not UTF-8 (an argument, a vendor's message) become U+FFFD instead of an exception.
inline std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::json::detail
