// SPDX-License-Identifier: Apache-2.0
// Tables and paragraphs for a terminal.
#include "suite/report/table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "suite/report/printable.hpp"

namespace assay::report {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastCut = 8;
constexpr std::size_t kLeastWrapped = 24;

// Bytes of the first `columns` code points.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if (!is_continuation(text[end]) && seen++ == columns) break;
  return end;
}

// The first `columns` code points, the last one a "~" where something was cut.
std::string cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns || columns == 0) return text;
  return text.substr(0, bytes_of(text, columns - 1)) + "~";
}

// Takes a line of at most `columns` off the front of `text`: whole words, or a piece of one that is longer than a line
// of `whole` columns.
std::string take_line(std::string_view& text, std::size_t columns, std::size_t whole) {
  std::string line;
  for (;;) {
    const auto begin = text.find_first_not_of(' ');
    text.remove_prefix(begin == text.npos ? text.size() : begin);
    if (text.empty()) return line;
    const auto word = text.substr(0, text.find(' '));
    const auto used = line.empty() ? 0 : columns_of(line) + 1;
    if (used + columns_of(word) > columns) {
      if (!line.empty() || columns_of(word) <= whole) return line;
      line = word.substr(0, bytes_of(word, std::max<std::size_t>(columns, 1)));
      text.remove_prefix(line.size());
      return line;
    }
    line += line.empty() ? "" : " ";
    line += word;
    text.remove_prefix(word.size());
  }
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

Table::Table(std::vector<std::string> header, Overflow overflow) : header_(std::move(header)), overflow_(overflow) {
  for (auto& name : header_) {
    right_.push_back(name.starts_with('>'));
    if (right_.back()) name.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(header_.size());
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::column_widths(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    widths.push_back(columns_of(header_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), indent + kGap * (widths.size() - 1)); };
  if (overflow_ == Overflow::wrap) {
    const auto others = total() - widths.back();
    const auto left = kScreenColumns > others ? kScreenColumns - others : 0;
    widths.back() = std::min(widths.back(), std::max(left, kLeastWrapped));
    return widths;
  }
  while (total() > kScreenColumns) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (!right_[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size() || widths[widest] <= kLeastCut) break;
    --widths[widest];
  }
  return widths;
}

std::string Table::text(std::string_view indent) const {
  const auto widths = column_widths(indent.size());
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto cell = cut(cells[i], widths[i]);
      const std::string padding(widths[i] - std::min(widths[i], columns_of(cell)), ' ');
      text += right_[i] ? padding + cell : cell + padding;
      text += std::string(kGap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  const auto rows = [&](const std::vector<std::string>& cells) {
    if (overflow_ == Overflow::cut) return line(cells);
    auto now = cells;
    for (auto& piece : lines_of(cells.back(), widths.back())) {
      now.back() = std::move(piece);
      line(now);
      std::fill(now.begin(), now.end(), std::string());
    }
  };
  rows(header_);
  for (const auto& row : rows_) rows(row);
  return out;
}

std::vector<std::string> lines_of(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  do lines.push_back(take_line(text, columns, columns));
  while (!text.empty());
  return lines;
}

std::string wrapped(std::string_view text, std::string_view first, std::string_view indent) {
  const auto left = [](std::string_view prefix) {
    const auto used = columns_of(prefix);
    return kScreenColumns > used ? kScreenColumns - used : 1;
  };
  const auto whole = left(indent);
  std::string out;
  for (std::string_view prefix = first; out.empty() || !text.empty(); prefix = indent) {
    std::string line = std::string(prefix) + take_line(text, left(prefix), whole);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace assay::report
