// SPDX-License-Identifier: Apache-2.0
// Cells of a CSV line, and numbers that must be whole and within bounds.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::trace {

// No device has more memory than this; a larger size is a damaged file.
inline constexpr std::int64_t kAbsurdBytes = std::int64_t{1} << 53;

// The cells of `line` between commas. No format read here quotes its cells.
inline void split_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

// Words of a file as a message may show them: anything but printable ASCII becomes '?', so that a sentence stays one
// line.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c < 0x20 || c >= 0x7f) c = '?';
  return out;
}

// The whole text as a number, or nothing.
template <class T>
[[nodiscard]] std::optional<T> whole(std::string_view text, int base = 10) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[nodiscard]] inline std::optional<double> whole_real(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// An address or handle: hexadecimal with 0x, or decimal.
[[nodiscard]] inline std::optional<std::uint64_t> address(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return whole<std::uint64_t>(text.substr(2), 16);
  return whole<std::uint64_t>(text);
}

}  // namespace assay::trace
