// SPDX-License-Identifier: Apache-2.0
// The kernels' own exponential on a CPU, against the C library's in double: within one and a quarter units in the last
// place for every argument it may be given, subnormal results included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/host/exec/isa.hpp"
#include "tests/unit/kernels_convert.hpp"

namespace assay::kernels {
namespace {

std::vector<Conversions> builds() {
  std::vector<Conversions> all = {baseline::conversions()};
#if defined(__x86_64__)
  if (host::kernel_builds().size() > 1 && host::cpu_runs(host::kernel_builds().front())) {
    all.push_back(v3::conversions());
  }
#endif
  return all;
}

float of_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// From -0 to below the last argument whose exponential is not 0, a prime number of representable floats apart, and
// every one around the multiples of ln 2 / 2, where the reduction changes over.
std::vector<float> arguments() {
  std::vector<float> x;
  for (std::uint32_t bits = 0x80000000u; of_bits(bits) > -110.0f; bits += 499) x.push_back(of_bits(bits));
  for (int n = 1; n < 310; ++n) {
    float at = static_cast<float>(-n * std::log(2.0) / 2);
    for (int step = 0; step < 8; ++step) at = std::nextafter(at, 0.0f);
    for (int step = 0; step < 16; ++step) x.push_back(at = std::nextafter(at, -HUGE_VALF));
  }
  while (x.size() % 8 != 0) x.push_back(0);
  return x;
}

// Seen: 0.89 where multiplication and addition are one instruction, 1.16 where they are two.
TEST(Exponential, IsWithinOneAndAQuarterUnitsInTheLastPlace) {
  const std::vector<float> x = arguments();
  ASSERT_GT(x.size(), 2000000u);
  for (const Conversions& build : builds()) {
    for (const bool eight : {false, true}) {
      std::vector<float> y(x.size());
      build.exponential(x.data(), y.data(), x.size(), eight);
      double worst = 0;
      float worst_at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = std::exp(static_cast<double>(x[i]));
        int exponent = 0;
        std::frexp(exact, &exponent);
        const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
        const double error = std::fabs(static_cast<double>(y[i]) - exact) / unit;
        if (!(error <= worst)) worst = error, worst_at = x[i];
      }
      EXPECT_LT(worst, 1.25) << build.name << (eight ? ", eight at a time" : ", one at a time") << ", at " << worst_at;
    }
  }
}

TEST(Exponential, OfTheBordersIsExact) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f,    -0.0f,   -kInfinity,           -3e38f,
                                -104.0f, -1e-45f, of_bits(0x7f800001u), of_bits(0xffffffffu)};
  for (const Conversions& build : builds()) {
    for (const bool eight : {false, true}) {
      std::vector<float> y(x.size(), -1);
      build.exponential(x.data(), y.data(), x.size(), eight);
      EXPECT_EQ(y[0], 1.0f);
      EXPECT_EQ(y[1], 1.0f);
      for (const std::size_t zero : {2u, 3u, 4u}) EXPECT_EQ(y[zero], 0.0f) << build.name << " " << x[zero];
      EXPECT_EQ(y[5], 1.0f);
      EXPECT_TRUE(std::isnan(y[6])) << build.name;
      EXPECT_TRUE(std::isnan(y[7])) << build.name;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
