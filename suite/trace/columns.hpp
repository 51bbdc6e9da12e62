// SPDX-License-Identifier: Apache-2.0
// Columns: the cells of CSV lines, found by the names in the header line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/trace/fields.hpp"
#include "suite/trace/input.hpp"

namespace assay::trace {

template <std::size_t N>
class Columns {
 public:
  // `names` are the columns that must be there, in the order `cell` numbers them.
  static Result<Columns> read_header(Input& input, const std::array<std::string_view, N>& names) {
    Columns columns;
    const auto more = input.line(columns.line_);
    if (!more) return more.error();
    split_cells(columns.line_, columns.cells_);
    columns.width_ = columns.cells_.size();
    columns.header_.assign(columns.cells_.begin(), columns.cells_.end());
    for (std::size_t i = 0; i < N; ++i) {
      const auto found = std::find(columns.cells_.begin(), columns.cells_.end(), names[i]);
      if (found == columns.cells_.end())
        return input.at_line(fmt::format("the column '{}' is missing; record the trace again", names[i]));
      columns.index_[i] = static_cast<std::size_t>(found - columns.cells_.begin());
    }
    return columns;
  }

  // The next line that is not empty; false at the end.
  Result<bool> next(Input& input) {
    do {
      const auto more = input.line(line_);
      if (!more || !*more) return more;
    } while (line_.empty());
    split_cells(line_, cells_);
    if (cells_.size() != width_)
      return input.at_line(
          fmt::format("{} columns where the header has {}; the file is cut off or damaged", cells_.size(), width_));
    return true;
  }

  [[nodiscard]] std::string_view cell(std::size_t number) const { return cells_[index_[number]]; }

  // The cell under a column that need not be there.
  [[nodiscard]] std::optional<std::string_view> optional_cell(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) return std::nullopt;
    return cells_[static_cast<std::size_t>(found - header_.begin())];
  }

 private:
  std::vector<std::string> header_;
  std::string line_;
  std::vector<std::string_view> cells_;
  std::array<std::size_t, N> index_{};
  std::size_t width_ = 0;
};

// The error of a cell that is not what its column holds.
[[nodiscard]] inline Error bad_cell(const Input& input, std::string_view column, std::string_view cell) {
  return input.at_line(fmt::format("'{}' is no value of the column '{}'", cell.substr(0, 40), column));
}

}  // namespace assay::trace
