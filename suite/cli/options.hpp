// SPDX-License-Identifier: Apache-2.0
// Options whose values are checked while the command line is read: whole numbers, sizes, choices, non-empty text.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::cli {

// The largest integer a document can hold.
inline constexpr std::int64_t kLargestInteger = (std::int64_t{1} << 53) - 1;

struct Range {
  std::int64_t minimum = 0;
  std::int64_t maximum = kLargestInteger;
};

// Decimal digits only: no sign but a leading '-', no blanks, no hexadecimal or octal, nothing after the number.
// Errors: usage, saying what was wrong ("is negative", "is too large", "is not a whole number").
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text, Range range);

// A size with a mandatory suffix: B, KiB, MiB, GiB, TiB, kB, MB, GB, TB; a decimal fraction is allowed where the result
// is a whole number of bytes ("1.5GiB"). Errors: usage.
[[nodiscard]] Result<std::int64_t> parse_size(std::string_view text);

// A decimal number of `unit_bytes` each, as bytes, rounded to the nearest byte. Errors: usage.
[[nodiscard]] Result<std::int64_t> parse_scaled(std::string_view text, std::int64_t unit_bytes);

CLI::Option* add_integer(CLI::App& app, const std::string& names, std::int64_t& target, const std::string& description,
                         Range range = {1, kLargestInteger});
// The same where "not given" matters.
CLI::Option* add_integer(CLI::App& app, const std::string& names, std::optional<std::int64_t>& target,
                         const std::string& description, Range range = {1, kLargestInteger});
CLI::Option* add_size(CLI::App& app, const std::string& names, std::optional<std::int64_t>& target,
                      const std::string& description);
// Text that may not be empty.
CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target, const std::string& description);
// May be given several times, one value each.
CLI::Option* add_texts(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                       const std::string& description);
// One of `choices`, exactly as written; a near miss gets a suggestion.
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& target,
                        const std::vector<std::string>& choices, const std::string& description);

// The candidate nearest to `word` by edit distance, empty when none is near enough to be meant.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace assay::cli
