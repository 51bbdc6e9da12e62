// SPDX-License-Identifier: Apache-2.0
// Numbers as text.
#include "suite/report/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace assay::report {

std::string binary_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.996 would print as 1024.00 of the smaller unit.
  while (std::abs(value) >= (unit == 0 ? 1024.0 : 1023.995) && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string bytes_both(std::int64_t bytes) {
  if (std::abs(bytes) < 10'000'000)
    return bytes >= 1024 ? fmt::format("{} bytes = {}", bytes, binary_bytes(bytes)) : fmt::format("{} bytes", bytes);
  const auto value = static_cast<double>(bytes);
  // GB beside GiB, MB beside MiB: the two are there to be compared.
  if (std::abs(bytes) < 1'000'000'000)
    return fmt::format("{} bytes = {:.2f} MB = {:.2f} MiB", bytes, value / 1e6, value / 1048576.0);
  return fmt::format("{} bytes = {:.2f} GB = {:.2f} GiB", bytes, value / 1e9, value / 1073741824.0);
}

std::string duration(double nanoseconds) {
  const double size = std::abs(nanoseconds);
  if (size >= 1e9) return fmt::format("{:.3f} s", nanoseconds / 1e9);
  if (size >= 1e6) return fmt::format("{:.3f} ms", nanoseconds / 1e6);
  if (size >= 1e3) return fmt::format("{:.3f} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ns", nanoseconds);
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  if (std::abs(value) >= 0.001 && std::abs(value) < 1e6) return fmt::format("{:.3f}", value);
  return fmt::format("{:.3g}", value);
}

std::string quantity(const Quantity& value) {
  if (!value.has_value()) return "n/a";
  const auto* integer = std::get_if<std::int64_t>(&value.value);
  const double real = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value.value);
  if (value.unit == "bytes" && integer != nullptr) return binary_bytes(*integer);
  if (value.unit == "ns") return duration(real);
  const auto text = integer != nullptr ? fmt::format("{}", *integer) : number(real);
  return value.unit.empty() || value.unit == "1" ? text : fmt::format("{} {}", text, value.unit);
}

std::string_view to_text(Basis basis) {
  switch (basis) {
    case Basis::computed:
      return "computed";
    case Basis::observed:
      return "observed";
    case Basis::assumed:
      return "assumed";
  }
  return "observed";
}

}  // namespace assay::report
