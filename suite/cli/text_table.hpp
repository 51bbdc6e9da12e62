// SPDX-License-Identifier: Apache-2.0
// TextTable: columns for a terminal, at most 100 characters wide, the last column wrapped at words.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace assay::cli {

inline constexpr std::size_t kTableWidth = 100;

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  // As many cells as there are heads.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Lines of at most `width` characters, broken at blanks, a longer word anywhere. Control characters become blanks.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace assay::cli
