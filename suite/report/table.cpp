// SPDX-License-Identifier: Apache-2.0
// Tables and paragraphs for a terminal.
#include "suite/report/table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::report {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// The first `columns` code points, the last one a "~" where something was cut.
std::string cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns || columns == 0) return text;
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && seen++ == columns - 1) break;
  }
  return text.substr(0, end) + "~";
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
  for (auto& name : header_) {
    right_.push_back(name.starts_with('>'));
    if (right_.back()) name.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    widths.push_back(columns_of(header_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), indent.size() + 2 * (widths.size() - 1));
  };
  while (total() > kScreenColumns) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (!right_[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size() || widths[widest] <= 8) break;
    --widths[widest];
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto cell = cut(cells[i], widths[i]);
      const std::string padding(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
      text += right_[i] ? padding + cell : cell + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line(header_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string wrapped(std::string_view text, std::string_view first, std::string_view indent) {
  std::string out(first);
  std::size_t column = columns_of(first);
  bool fresh = true;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const auto word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
    if (word.empty()) continue;
    if (!fresh && column + 1 + columns_of(word) > kScreenColumns) {
      out += '\n';
      out += indent;
      column = columns_of(indent);
      fresh = true;
    }
    if (!fresh) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns_of(word);
    fresh = false;
  }
  out += '\n';
  return out;
}

}  // namespace assay::report
