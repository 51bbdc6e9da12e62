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

// What gives way when a table would be too wide: the widest left-aligned column, its text cut with "~"; or the last
// column, its text wrapped at words.
enum class Overflow { cut, wrap };

// Cells may hold any text: control characters are shown escaped.
class Table {
 public:
  // Names that start with '>' are columns aligned to the right.
  explicit Table(std::vector<std::string> header, Overflow overflow = Overflow::cut);
  // As many cells as the header; missing ones are empty.
  void add(std::vector<std::string> cells);
  // Every line ends in a newline, starts with `indent`, and is no longer than kScreenColumns while the other columns
  // leave the one that gives way its least width.
  [[nodiscard]] std::string text(std::string_view indent = "  ") const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  [[nodiscard]] std::vector<std::size_t> column_widths(std::size_t indent) const;

  std::vector<std::string> header_;
  Overflow overflow_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` broken at blanks into lines of at most kScreenColumns, the first after `first`, the others after `indent`; a
// word longer than a line is broken anywhere.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view first, std::string_view indent);

// `text` broken in the same way into lines of at most `columns`; at least one line.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t columns);

// Columns a UTF-8 text takes, counting each code point as one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

}  // namespace assay::report
