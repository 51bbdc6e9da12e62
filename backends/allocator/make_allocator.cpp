// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include "backends/allocator/make_allocator.hpp"

#include <string>

#include "backends/allocator/caching.hpp"
#include "backends/allocator/direct.hpp"

namespace assay::allocator {

Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy, std::string_view options,
                                                  const assay_backend& table, assay_device* device) {
  if (policy == "caching") {
    auto parsed = parse_options(options);
    if (!parsed) return parsed.error();
    auto made = CachingAllocator::create(table, device, *parsed);
    if (!made) return made.error();
    return std::unique_ptr<Allocator>(std::move(*made));
  }
  if (policy == "direct") {
    if (!options.empty())
      return Error{ErrorCode::usage, "Allocator policy direct takes no options, but was given '" +
                                         std::string(options) + "'; leave them out or choose caching."};
    return std::unique_ptr<Allocator>(std::make_unique<DirectAllocator>(table, device));
  }
  std::string names;
  for (const std::string_view name : kPolicyNames) names += (names.empty() ? "" : ", ") + std::string(name);
  return Error{ErrorCode::usage,
               "Allocator policy '" + std::string(policy) + "' is unknown; choose one of: " + names + "."};
}

}  // namespace assay::allocator
