// SPDX-License-Identifier: Apache-2.0
// 16-bit storage: every value, every midpoint between neighbours and its own neighbours, against arithmetic in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/host/exec/isa.hpp"
#include "tests/unit/kernels_convert.hpp"

namespace assay::kernels {
namespace {

struct Format {
  const char* name;
  int exponent_bits;
  int fraction_bits;
};
constexpr Format kF16{"f16", 5, 10};
constexpr Format kBf16{"bf16", 8, 7};

// The value of a bit pattern by the definition of the format.
double value_of(const Format& format, std::uint32_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint32_t exponent = (bits >> format.fraction_bits) & ((1u << format.exponent_bits) - 1);
  const double fraction = std::ldexp(bits & ((1u << format.fraction_bits) - 1), -format.fraction_bits);
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == (1u << format.exponent_bits) - 1) return fraction != 0 ? NAN : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
}

std::vector<Conversions> builds() {
  std::vector<Conversions> all = {baseline::conversions()};
#if defined(__x86_64__)
  if (host::kernel_builds().size() > 1 && host::cpu_runs(host::kernel_builds().front())) {
    all.push_back(v3::conversions());
  }
#endif
  return all;
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

void expect_decodes(const Format& format, const Conversions& build, bool eight) {
  const std::vector<std::uint16_t> bits = all_patterns();
  std::vector<float> values(bits.size());
  (&format == &kF16 ? build.f16_to_float : build.bf16_to_float)(bits.data(), values.data(), bits.size(), eight);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double expected = value_of(format, bits[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(values[i])) << format.name << " " << i;
    } else {
      ASSERT_EQ(static_cast<double>(values[i]), expected) << format.name << " " << i;
      ASSERT_EQ(std::signbit(values[i]), std::signbit(expected)) << format.name << " " << i;
    }
  }
}

TEST(Storage, EveryPatternDecodesToItsValue) {
  for (const Conversions& build : builds()) {
    for (const bool eight : {false, true}) {
      expect_decodes(kF16, build, eight);
      expect_decodes(kBf16, build, eight);
    }
  }
}

// Floats to encode and what they must become.
void add_rounding_cases(const Format& format, std::vector<float>& from, std::vector<std::uint16_t>& to) {
  const std::uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  const auto add = [&](double value, std::uint32_t bits) {
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      from.push_back(static_cast<float>(sign != 0 ? -value : value));
      to.push_back(static_cast<std::uint16_t>(bits | sign));
    }
  };
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double low = value_of(format, bits);
    // Beyond the largest number, the next value would be the one that infinity's pattern stands for.
    const double high = bits + 1 < infinity ? value_of(format, bits + 1) : low + (low - value_of(format, bits - 1));
    const double middle = (low + high) / 2;
    const std::uint32_t even = (bits & 1u) == 0 ? bits : bits + 1;
    add(low, bits);
    if (static_cast<double>(static_cast<float>(middle)) != middle || !std::isfinite(static_cast<float>(middle)))
      continue;
    add(middle, even);
    const auto f = static_cast<float>(middle);
    add(static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())), bits + 1);
    add(static_cast<double>(std::nextafter(f, 0.0f)), bits);
  }
  add(HUGE_VAL, infinity);
  add(static_cast<double>(std::numeric_limits<float>::max()), infinity);
  if (&format == &kF16) add(static_cast<double>(std::numeric_limits<float>::min()), 0);
  while (from.size() % 8 != 0) add(0, 0);
}

TEST(Storage, EveryMidpointRoundsToEvenAndItsNeighboursToTheNearest) {
  for (const Format* format : {&kF16, &kBf16}) {
    std::vector<float> from;
    std::vector<std::uint16_t> expected;
    add_rounding_cases(*format, from, expected);
    ASSERT_GT(from.size(), 200000u);
    for (const Conversions& build : builds()) {
      for (const bool eight : {false, true}) {
        std::vector<std::uint16_t> to(from.size());
        (format == &kF16 ? build.float_to_f16 : build.float_to_bf16)(from.data(), to.data(), from.size(), eight);
        for (std::size_t i = 0; i < from.size(); ++i) {
          ASSERT_EQ(to[i], expected[i]) << format->name << " " << build.name << " of " << from[i];
        }
      }
    }
  }
}

TEST(Storage, NotANumberStaysOne) {
  std::vector<float> from(8, std::numeric_limits<float>::quiet_NaN());
  const std::uint32_t smallest = 0x7f800001u;  // a NaN whose payload lies in the bits that are cut off
  std::memcpy(&from[3], &smallest, sizeof(float));
  for (const Conversions& build : builds()) {
    for (const bool eight : {false, true}) {
      std::vector<std::uint16_t> to(8);
      build.float_to_f16(from.data(), to.data(), 8, eight);
      for (const std::uint16_t bits : to) EXPECT_TRUE(std::isnan(value_of(kF16, bits))) << build.name;
      build.float_to_bf16(from.data(), to.data(), 8, eight);
      for (const std::uint16_t bits : to) EXPECT_TRUE(std::isnan(value_of(kBf16, bits))) << build.name;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
