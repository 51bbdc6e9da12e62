// SPDX-License-Identifier: Apache-2.0
// Reference of RMSNorm, on host memory. A product of a root of a sum of squares: its scale is its own magnitude.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/rmsnorm/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> rmsnorm_reference(const RmsNormParams& p) {
  Expected<Real> y(p.rows * p.width, p.width);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    Real squares = 0;
    for (std::int64_t i = 0; i < p.width; ++i) {
      const Real x = static_cast<Real>(read<T>(p.x, r * p.width + i));
      squares += x * x;
    }
    const Real root = std::sqrt(squares / static_cast<Real>(p.width) + static_cast<Real>(p.epsilon));
    for (std::int64_t i = 0; i < p.width; ++i) {
      const Real x = static_cast<Real>(read<T>(p.x, r * p.width + i));
      const Real value = x / root * static_cast<Real>(read<T>(p.weight, i));
      y.set(r * p.width + i, value, std::fabs(static_cast<double>(value)));
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
