// SPDX-License-Identifier: Apache-2.0
// Reference of RoPE, on host memory: x afterwards.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/rope/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Terms of an output: a * cos and b * sin. The angle, position * theta^(-2 i / head_dim), carries the rounding of its
// exponent, whose relative condition is |ln frequency|, and passes it on with its own size.
template <class T, class Real>
Expected<Real> rope_reference(const RopeParams& p) {
  const std::int64_t half = p.head_dim / 2;
  Expected<Real> y(p.tokens * p.heads * p.head_dim, 2);
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    for (std::int64_t i = 0; i < half; ++i) {
      const Real exponent = static_cast<Real>(2 * i) / static_cast<Real>(p.head_dim);
      const Real frequency = Real(1) / std::pow(static_cast<Real>(p.theta), exponent);
      const Real angle = static_cast<Real>(p.positions[t]) * frequency;
      const Real c = std::cos(angle);
      const Real s = std::sin(angle);
      const double blur =
          f32_share<T>() * std::fabs(static_cast<double>(angle)) * (1 - std::log(static_cast<double>(frequency)));
      for (std::int64_t h = 0; h < p.heads; ++h) {
        const std::int64_t low = (t * p.heads + h) * p.head_dim + i;
        const Real a = static_cast<Real>(read<T>(p.x, low));
        const Real b = static_cast<Real>(read<T>(p.x, low + half));
        const auto size = [&](Real u, Real v) {
          return std::fabs(static_cast<double>(u * c)) + std::fabs(static_cast<double>(v * s)) +
                 blur * (std::fabs(static_cast<double>(u * s)) + std::fabs(static_cast<double>(v * c)));
        };
        y.set(low, a * c - b * s, size(a, b));
        y.set(low + half, b * c + a * s, size(b, a));
      }
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
