// SPDX-License-Identifier: Apache-2.0
// The counters of a phase by name, and the differences that may be taken between them: of one instant only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "results-schema/types/memory.hpp"

namespace assay::report {

// The value of counter `name` ("reserved_bytes.all.current") in this perimeter; nothing when it is not there or null.
[[nodiscard]] std::optional<std::int64_t> counter(const std::vector<Counter>& counters, std::string_view name,
                                                  std::string_view perimeter);

// The allocator at one instant, from values read at that same instant.
struct Instant {
  std::optional<std::int64_t> requested;
  std::optional<std::int64_t> allocated;
  std::optional<std::int64_t> active;
  std::optional<std::int64_t> reserved;
  std::optional<std::int64_t> largest_free;  // block: always shown beside the gap, which says nothing of its pieces

  // reserved - allocated, both of this instant. Peaks have no such member: two of them need not belong to one instant.
  [[nodiscard]] std::optional<std::int64_t> gap() const {
    return reserved && allocated ? std::optional(*reserved - *allocated) : std::nullopt;
  }
  bool operator==(const Instant&) const = default;
};

// Current values among `counters`.
[[nodiscard]] Instant instant(const std::vector<Counter>& counters);

// Peaks since the start of the phase, each by itself.
struct Peaks {
  std::optional<std::int64_t> requested;
  std::optional<std::int64_t> allocated;
  std::optional<std::int64_t> active;
  std::optional<std::int64_t> reserved;
};
[[nodiscard]] Peaks peaks(const std::vector<Counter>& counters);

// One category's bytes.
struct CategoryBytes {
  std::string_view name;
  std::optional<std::int64_t> current;
  std::optional<std::int64_t> peak;
  std::optional<std::int64_t> requested_peak;
};
// Allocated bytes, and the highest requested ones, of each category that is among the counters, in their order.
[[nodiscard]] std::vector<CategoryBytes> categories(const std::vector<Counter>& counters);

}  // namespace assay::report
