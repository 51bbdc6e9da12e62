// SPDX-License-Identifier: Apache-2.0
// PolicyChoice: an allocator policy with its options, as a user names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::replay {

struct PolicyChoice {
  std::string policy;   // a name of allocator::kPolicyNames
  std::string options;  // PYTORCH_CUDA_ALLOC_CONF syntax, may be empty
  std::string label;    // as a table shows it: the name, or the options where they were given
  bool operator==(const PolicyChoice&) const = default;
};

// Names and option strings, cut at the commas between them: "caching,max_split_size_mb:64,expandable_segments:True,
// remapping" are the three policies caching, one with two options, and remapping. What follows a comma belongs to the
// option string before it as long as it is KEY:VALUE; a second option string is given as another word.
// `simulated`: the runtime's own pool, native, is refused. Errors: usage, also for an unknown name or refused options.
[[nodiscard]] Result<std::vector<PolicyChoice>> parse_policies(const std::vector<std::string>& words,
                                                               bool simulated = true);

// caching, expandable, remapping and the lower bound direct.
[[nodiscard]] std::vector<PolicyChoice> default_policies();

}  // namespace assay::replay
