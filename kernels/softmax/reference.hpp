// SPDX-License-Identifier: Apache-2.0
// Reference of softmax, on host memory. exp(x - max) has the relative condition |x - max|, for x - max is rounded.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/softmax/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> softmax_reference(const SoftmaxParams& p) {
  Expected<Real> y(p.rows * p.width, p.width);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const std::int64_t row = r * p.width;
    Real peak = p.width > 0 ? static_cast<Real>(read<T>(p.x, row)) : Real(0);
    for (std::int64_t i = 1; i < p.width; ++i) peak = std::fmax(peak, static_cast<Real>(read<T>(p.x, row + i)));
    Real sum = 0;
    for (std::int64_t i = 0; i < p.width; ++i) sum += std::exp(static_cast<Real>(read<T>(p.x, row + i)) - peak);
    for (std::int64_t i = 0; i < p.width; ++i) {
      const Real distance = peak - static_cast<Real>(read<T>(p.x, row + i));
      const Real value = std::exp(-distance) / sum;
      y.set(row + i, value, static_cast<double>(value) * (1 + f32_share<T>() * static_cast<double>(distance)));
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
