// SPDX-License-Identifier: Apache-2.0
// One walk over UTF-8, well-formed as the Unicode standard's table 3-7 has it.
#include "suite/report/printable.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace assay::report {
namespace {

struct Decoded {
  std::uint32_t point = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    point = point << 6U | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) return {};
  return {point, length};
}

bool steers(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x2028 || point == 0x2029 ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e ||
         point == 0x200f;
}

std::string escape(std::uint32_t point) {
  if (point == '\n') return "\\n";
  if (point == '\r') return "\\r";
  if (point == '\t') return "\\t";
  return point < 0x100 ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{:04x}", point);
}

// Length of "ESC [ digits m" at the beginning of `text`, or 0.
std::size_t colour(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::string walk(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    std::size_t taken = lines ? colour(text) : 0;
    if (taken == 0 && lines && text.front() == '\n') taken = 1;
    if (taken > 0) {
      out += text.substr(0, taken);
      text.remove_prefix(taken);
      continue;
    }
    const auto decoded = decode(text);
    if (decoded.bytes == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (steers(decoded.point))
      out += escape(decoded.point);
    else
      out += text.substr(0, decoded.bytes);
    text.remove_prefix(decoded.bytes == 0 ? 1 : decoded.bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return walk(text, false);
}

std::string printable_lines(std::string_view text) {
  return walk(text, true);
}

}  // namespace assay::report
