// SPDX-License-Identifier: Apache-2.0
// Counters by name.
#include "suite/report/counters.hpp"

#include <algorithm>
#include <string>

namespace assay::report {
namespace {

constexpr std::string_view kAllocator = "allocator";
constexpr std::string_view kCategory = "category:";

std::optional<std::int64_t> allocator_counter(const std::vector<Counter>& counters, std::string_view statistic,
                                              std::string_view value) {
  return counter(counters, std::string(statistic) + ".all." + std::string(value), kAllocator);
}

}  // namespace

std::optional<std::int64_t> counter(const std::vector<Counter>& counters, std::string_view name,
                                    std::string_view perimeter) {
  for (const auto& entry : counters) {
    if (entry.name != name || entry.perimeter != perimeter) continue;
    if (const auto* value = std::get_if<std::int64_t>(&entry.quantity.value)) return *value;
  }
  return std::nullopt;
}

Instant instant(const std::vector<Counter>& counters) {
  return {
      allocator_counter(counters, "requested_bytes", "current"),
      allocator_counter(counters, "allocated_bytes", "current"), allocator_counter(counters, "active_bytes", "current"),
      allocator_counter(counters, "reserved_bytes", "current"), counter(counters, "largest_free_bytes", kAllocator)};
}

Peaks peaks(const std::vector<Counter>& counters) {
  return {allocator_counter(counters, "requested_bytes", "peak"),
          allocator_counter(counters, "allocated_bytes", "peak"), allocator_counter(counters, "active_bytes", "peak"),
          allocator_counter(counters, "reserved_bytes", "peak")};
}

std::vector<CategoryBytes> categories(const std::vector<Counter>& counters) {
  std::vector<CategoryBytes> out;
  for (const auto& entry : counters) {
    const std::string_view perimeter = entry.perimeter;
    if (!perimeter.starts_with(kCategory) || entry.name != "allocated_bytes.current") continue;
    out.push_back({perimeter.substr(kCategory.size()), counter(counters, "allocated_bytes.current", perimeter),
                   counter(counters, "allocated_bytes.peak", perimeter),
                   counter(counters, "requested_bytes.peak", perimeter)});
  }
  return out;
}

}  // namespace assay::report
