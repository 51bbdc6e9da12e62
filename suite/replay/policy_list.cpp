// SPDX-License-Identifier: Apache-2.0
// From words of a command line to policies.
#include "suite/replay/policy_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backends/allocator/make_allocator.hpp"
#include "backends/allocator/options.hpp"

namespace assay::replay {
namespace {

// Cut at the commas outside brackets.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i == text.size() || (text[i] == ',' && depth <= 0)) {
      pieces.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  return pieces;
}

Result<PolicyChoice> configured(const std::string& options) {
  const auto parsed = allocator::parse_options(options);
  if (!parsed) return parsed.error();
  return PolicyChoice{parsed->expandable ? "expandable" : "caching", options, options};
}

}  // namespace

Result<std::vector<PolicyChoice>> parse_policies(const std::vector<std::string>& words, bool simulated) {
  std::vector<PolicyChoice> choices;
  for (const std::string& word : words) {
    std::string options;
    const auto take_options = [&]() -> Result<void> {
      if (options.empty()) return {};
      auto choice = configured(options);
      if (!choice) return choice.error();
      choices.push_back(std::move(*choice));
      options.clear();
      return {};
    };
    for (const std::string_view piece : pieces_of(word)) {
      if (piece.find(':') != std::string_view::npos) {
        options += (options.empty() ? "" : ",") + std::string(piece);
        continue;
      }
      if (auto taken = take_options(); !taken) return taken.error();
      const auto& names = allocator::kPolicyNames;
      if (piece == "native" && simulated)
        return Error{ErrorCode::usage,
                     "policy native is the runtime's own pool and cannot be simulated; leave it out, or replay on a "
                     "device with --backend"};
      if (std::find(names.begin(), names.end(), piece) == names.end())
        return Error{ErrorCode::usage,
                     fmt::format("there is no policy \"{}\"; choose of {} or give options as KEY:VALUE", piece,
                                 fmt::join(names, ", "))};
      choices.push_back({std::string(piece), "", std::string(piece)});
    }
    if (auto taken = take_options(); !taken) return taken.error();
  }
  return choices;
}

std::vector<PolicyChoice> default_policies() {
  return {{"caching", "", "caching"},
          {"expandable", "", "expandable"},
          {"remapping", "", "remapping"},
          {"direct", "", "direct"}};
}

}  // namespace assay::replay
