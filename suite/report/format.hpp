// SPDX-License-Identifier: Apache-2.0
// Numbers as a person reads them: the suffix is always the divisor that was used, a missing value says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results-schema/types/quantity.hpp"

namespace assay::report {

// "13.04 GiB", "512.00 MiB", "17 B": the largest binary unit that keeps the number at 1 or above.
[[nodiscard]] std::string binary_bytes(std::int64_t bytes);

// "14000000000 bytes = 14.00 GB = 13.04 GiB", below 1 GB in MB and MiB; below 10 MB the plain bytes with one binary
// unit.
[[nodiscard]] std::string bytes_both(std::int64_t bytes);

// "12.345 ms", "1.200 s", "800 ns".
[[nodiscard]] std::string duration(double nanoseconds);

// A quantity by its unit: bytes, ns, tokens/s, anything else as number and unit. A missing one is "n/a".
[[nodiscard]] std::string quantity(const Quantity& value);

// A plain number with three significant decimals at most.
[[nodiscard]] std::string number(double value);

[[nodiscard]] std::string_view to_text(Basis basis);

}  // namespace assay::report
