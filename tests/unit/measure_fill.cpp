// SPDX-License-Identifier: Apache-2.0
// Seeded contents: independent of order and division, spread as stated, and rounded to 16 bits as the formats require.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "suite/measure/forward/fill.hpp"

namespace assay::measure {
namespace {

std::vector<std::byte> bytes_of(const Fill& fill, std::uint64_t seed, Storage storage, std::int64_t piece) {
  const std::int64_t size = element_bytes(fill, storage);
  std::vector<std::byte> out(static_cast<std::size_t>(fill.elements * size));
  for (std::int64_t first = 0; first < fill.elements; first += piece) {
    generate(fill, seed, storage, first, std::min(piece, fill.elements - first), out.data() + first * size);
  }
  return out;
}

TEST(MeasureFill, DivisionAndOrderDoNotMatter) {
  Fill fill;
  fill.elements = 1000;
  fill.amplitude = 2.0f;
  fill.stream = 7;
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::bf16}) {
    const auto whole = bytes_of(fill, 1, storage, 1000);
    EXPECT_EQ(whole, bytes_of(fill, 1, storage, 1));
    EXPECT_EQ(whole, bytes_of(fill, 1, storage, 333));
    EXPECT_NE(whole, bytes_of(fill, 2, storage, 1000)) << "another seed";
    Fill other = fill;
    other.stream = 8;
    EXPECT_NE(whole, bytes_of(other, 1, storage, 1000)) << "another buffer";
  }
}

TEST(MeasureFill, UniformHasItsMeanItsRangeAndItsVariance) {
  Fill fill;
  fill.elements = 200000;
  fill.mean = 1.0f;
  fill.amplitude = 0.5f;
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < fill.elements; ++i) {
    const double value = uniform_value(fill, 3, i);
    ASSERT_GE(value, 0.5);
    ASSERT_LE(value, 1.5);
    sum += value;
    squares += (value - 1.0) * (value - 1.0);
  }
  const auto n = static_cast<double>(fill.elements);
  EXPECT_NEAR(sum / n, 1.0, 0.003) << "four standard errors are 0.0026";
  EXPECT_NEAR(squares / n, 0.25 / 3.0, 0.001);
}

TEST(MeasureFill, Integers) {
  Fill fill;
  fill.elements = 12;
  fill.law = FillLaw::position_in_sequence;
  fill.modulus = 4;
  std::vector<std::int32_t> values(12);
  generate(fill, 1, Storage::f16, 0, 12, reinterpret_cast<std::byte*>(values.data()));
  EXPECT_EQ(values, (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  fill.law = FillLaw::position_of_step;
  fill.start = 10;
  generate(fill, 1, Storage::bf16, 0, 12, reinterpret_cast<std::byte*>(values.data()));
  EXPECT_EQ(values, (std::vector<std::int32_t>{10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12}));
  fill.law = FillLaw::token_ids;
  fill.elements = 5000;
  fill.modulus = 10;
  values.resize(5000);
  generate(fill, 1, Storage::f32, 0, 5000, reinterpret_cast<std::byte*>(values.data()));
  std::vector<int> seen(10);
  for (const auto id : values) {
    ASSERT_GE(id, 0);
    ASSERT_LT(id, 10);
    ++seen[static_cast<std::size_t>(id)];
  }
  for (const int count : seen) EXPECT_NEAR(count, 500, 110) << "five standard deviations";
}

TEST(MeasureFill, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7fffu) <= 0x7c00u) {
      ASSERT_EQ(to_f16(from_f16(half)), half) << bits;
    }
    if ((half & 0x7fffu) <= 0x7f80u) {
      ASSERT_EQ(to_bf16(from_bf16(half)), half) << bits;
    }
  }
}

// Between two neighbours the nearer one is taken, in the middle the even one; checked at every gap of positive numbers.
TEST(MeasureFill, RoundsToNearestAndTiesToEven) {
  for (std::uint16_t low = 0; low < 0x7bffu; ++low) {
    const double below = from_f16(low);
    const double above = from_f16(static_cast<std::uint16_t>(low + 1));
    const auto middle = static_cast<float>((below + above) / 2);
    const std::uint16_t even = low % 2 == 0 ? low : static_cast<std::uint16_t>(low + 1);
    ASSERT_EQ(to_f16(middle), even) << low;
    ASSERT_EQ(to_f16(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(to_f16(std::nextafter(middle, 1e9f)), low + 1);
    ASSERT_EQ(to_f16(-middle), even | 0x8000u);
  }
  for (std::uint16_t low = 0x0080u; low < 0x7f00u; ++low) {
    const float below = from_bf16(low);
    const float middle = below + (from_bf16(static_cast<std::uint16_t>(low + 1)) - below) / 2;
    const std::uint16_t even = low % 2 == 0 ? low : static_cast<std::uint16_t>(low + 1);
    ASSERT_EQ(to_bf16(middle), even) << low;
    ASSERT_EQ(to_bf16(std::nextafter(middle, 0.0f)), low);
  }
  EXPECT_EQ(to_f16(65519.0f), 0x7bffu);
  EXPECT_EQ(to_f16(65520.0f), 0x7c00u);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::infinity()), 0x7c00u);
  EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace assay::measure
