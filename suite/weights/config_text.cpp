// SPDX-License-Identifier: Apache-2.0
// One pass outside of strings finds the words that JSON does not have; the guarded parser then reads the rest.
#include "suite/weights/config_text.hpp"

#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "results-schema/json/json.hpp"

namespace assay::weights {
namespace {

constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};

// End of the string that opens at `at`, its closing quote included; npos when it never closes.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

}  // namespace

Result<nlohmann::ordered_json> parse_config_text(std::string_view text, std::string_view name,
                                                 std::vector<UnknownField>& unknown) {
  std::string field;
  std::vector<UnknownField> found;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      const auto end = string_end(text, at);
      if (end == std::string_view::npos) break;
      const auto next = skip_space(text, end);
      if (next < text.size() && text[next] == ':') field = std::string(text.substr(at + 1, end - at - 2));
      at = end;
      continue;
    }
    bool replaced = false;
    for (const auto word : kWords) {
      if (!text.substr(at).starts_with(word)) continue;
      found.push_back({field, std::string(word), at});
      at += word.size();
      replaced = true;
      break;
    }
    if (!replaced) ++at;
  }
  if (found.empty()) return json::parse(text, name);
  std::string rebuilt;
  std::size_t from = 0;
  for (const auto& item : found) {
    rebuilt.append(text.substr(from, item.byte - from)).append("null");
    from = item.byte + item.value.size();
  }
  rebuilt.append(text.substr(from));
  auto parsed = json::parse(rebuilt, name);
  if (parsed) unknown.insert(unknown.end(), found.begin(), found.end());
  return parsed;
}

}  // namespace assay::weights
