// SPDX-License-Identifier: Apache-2.0
// Widths are counted in code points, which is right for the Latin text this program prints.
#include "suite/cli/text_table.hpp"

#include <algorithm>
#include <ostream>

namespace assay::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastLast = 24;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

// The byte behind the first `count` code points.
std::size_t bytes_of(const std::string& text, std::size_t count) {
  std::size_t byte = 0;
  while (byte < text.size() && count > 0) {
    ++byte;
    while (byte < text.size() && continues(text[byte])) ++byte;
    --count;
  }
  return byte;
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::string rest = text;
  std::replace_if(
      rest.begin(), rest.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; }, ' ');
  std::vector<std::string> lines;
  while (length(rest) > width) {
    const std::size_t limit = bytes_of(rest, width);
    std::size_t cut = rest.rfind(' ', limit);
    if (cut == std::string::npos || cut == 0) cut = limit;
    lines.push_back(rest.substr(0, cut));
    rest.erase(0, rest[cut] == ' ' ? cut + 1 : cut);
  }
  lines.push_back(rest);
  return lines;
}

void TextTable::print(std::ostream& out) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i + 1 < columns; ++i) widths[i] = std::max(widths[i], length(row[i]));
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < columns; ++i) before += widths[i] + kGap;
  const std::size_t last = before + kLeastLast > kTableWidth ? kLeastLast : kTableWidth - before;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i + 1 < columns; ++i) out << row[i] << std::string(widths[i] - length(row[i]) + kGap, ' ');
    bool first = true;
    for (const auto& line : wrapped(row[columns - 1], last)) {
      if (!first) out << std::string(before, ' ');
      out << line << '\n';
      first = false;
    }
  }
}

}  // namespace assay::cli
