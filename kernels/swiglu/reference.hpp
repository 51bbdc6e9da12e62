// SPDX-License-Identifier: Apache-2.0
// Reference of SwiGLU, on host memory. A product: its scale is its own magnitude.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/swiglu/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> swiglu_reference(const SwigluParams& p) {
  Expected<Real> y(p.n);
  for (std::int64_t i = 0; i < p.n; ++i) {
    const Real gate = static_cast<Real>(read<T>(p.gate, i));
    const Real up = static_cast<Real>(read<T>(p.up, i));
    const Real value = gate / (Real(1) + std::exp(-gate)) * up;
    y.set(i, value, std::fabs(static_cast<double>(value)));
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
