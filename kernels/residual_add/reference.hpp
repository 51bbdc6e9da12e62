// SPDX-License-Identifier: Apache-2.0
// Reference of the residual addition, on host memory. Terms: x and residual.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/residual_add/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> residual_add_reference(const ResidualAddParams& p) {
  Expected<Real> y(p.n, 2);
  for (std::int64_t i = 0; i < p.n; ++i) {
    const double x = read<T>(p.x, i);
    const double r = read<T>(p.residual, i);
    y.set(i, static_cast<Real>(x) + static_cast<Real>(r), std::fabs(x) + std::fabs(r));
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
