// SPDX-License-Identifier: Apache-2.0
// Table: columns aligned for a terminal, never wider than the screen a reader is promised.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

// No line of a report is longer than this.
inline constexpr std::size_t kScreenColumns = 100;

class Table {
 public:
  // Names that start with '>' are columns aligned to the right.
  explicit Table(std::vector<std::string> header);
  // As many cells as the header; missing ones are empty.
  void add(std::vector<std::string> cells);
  // Every line ends in a newline and starts with `indent`; the widest left-aligned column gives way, its text cut with
  // "~", when the whole would be too wide.
  [[nodiscard]] std::string text(std::string_view indent = "  ") const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` broken at blanks into lines of at most kScreenColumns, the first after `first`, the others after `indent`.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view first, std::string_view indent);

// Columns a UTF-8 text takes, counting each code point as one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

}  // namespace assay::report
