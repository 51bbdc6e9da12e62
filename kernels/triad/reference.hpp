// SPDX-License-Identifier: Apache-2.0
// Reference of triad, on host memory. Terms: b and scalar * c.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/triad/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> triad_reference(const TriadParams& p) {
  Expected<Real> a(p.n, 2);
  for (std::int64_t i = 0; i < p.n; ++i) {
    const Real b = static_cast<Real>(read<T>(p.b, i));
    const Real product = static_cast<Real>(p.scalar) * static_cast<Real>(read<T>(p.c, i));
    a.set(i, b + product, std::fabs(static_cast<double>(b)) + std::fabs(static_cast<double>(product)));
  }
  return a;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
