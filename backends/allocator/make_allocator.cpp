// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include "backends/allocator/make_allocator.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/allocator/caching.hpp"
#include "backends/allocator/direct.hpp"
#include "backends/allocator/expandable.hpp"
#include "backends/allocator/native.hpp"
#include "backends/allocator/remapping.hpp"

namespace assay::allocator {
namespace {

constexpr std::size_t kLeastPageOnAmd = 32 * kMiB;  // hipMallocAsync's own chunk: facts allocators section 1.3

bool is_amd(const assay_backend& table) {
  bool amd = false;
  const auto sink = [](void* context, const assay_field* field) {
    if (std::string_view(field->key) == "platform" && field->state == ASSAY_FIELD_VALUE && field->text != nullptr)
      *static_cast<bool*>(context) = std::string_view(field->text) == "amd";
  };
  return table.describe(sink, &amd) == ASSAY_OK && amd;
}

template <class Made>
Result<std::unique_ptr<Allocator>> as_allocator(Result<std::unique_ptr<Made>> made) {
  if (!made) return made.error();
  return std::unique_ptr<Allocator>(std::move(*made));
}

// The options of caching or expandable; `expandable` says which of the two was meant.
Result<Options> configuration(std::string_view policy, std::string_view text) {
  auto options = parse_options(text);
  if (!options || policy == "caching") return options;
  if (!options->expandable && text.find("expandable_segments") != std::string_view::npos)
    return Error{ErrorCode::usage,
                 "Allocator policy expandable cannot have expandable_segments:False; leave it out or choose caching."};
  options->expandable = true;
  return options;
}

bool is_configured(std::string_view policy) {
  return policy == "caching" || policy == "expandable";
}

}  // namespace

Result<void> check_policy(std::string_view policy, std::string_view options) {
  if (is_configured(policy)) {
    auto read = configuration(policy, options);
    if (!read) return read.error();
    return read->expandable ? ExpandableAllocator::check(*read) : Result<void>();
  }
  if (policy == "native") return NativeAllocator::check(options);
  if (std::find(kPolicyNames.begin(), kPolicyNames.end(), policy) != kPolicyNames.end()) {
    if (options.empty()) return {};
    return Error{ErrorCode::usage, "Allocator policy " + std::string(policy) + " takes no options, but was given '" +
                                       std::string(options) + "'; leave them out or choose caching."};
  }
  std::string names;
  for (const std::string_view name : kPolicyNames) names += (names.empty() ? "" : ", ") + std::string(name);
  return Error{ErrorCode::usage,
               "Allocator policy '" + std::string(policy) + "' is unknown; choose one of: " + names + "."};
}

Result<std::unique_ptr<Allocator>> make_allocator(std::string_view policy, std::string_view options,
                                                  const assay_backend& table, assay_device* device) {
  if (auto checked = check_policy(policy, options); !checked) return checked.error();
  if (policy == "native") return as_allocator(NativeAllocator::create(table, device, options));
  if (policy == "remapping") return as_allocator(RemappingAllocator::create(table, device));
  if (policy == "direct") return std::unique_ptr<Allocator>(std::make_unique<DirectAllocator>(table, device));
  auto read = configuration(policy, options);
  if (!read) return read.error();
  if (!read->expandable) return as_allocator(CachingAllocator::create(table, device, *read));
  if (read->least_page_bytes == 0 && is_amd(table)) read->least_page_bytes = kLeastPageOnAmd;
  return as_allocator(ExpandableAllocator::create(table, device, *read));
}

}  // namespace assay::allocator
