// SPDX-License-Identifier: Apache-2.0
// Reference of copy, on host memory. Exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/copy/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> copy_reference(const CopyParams& p) {
  Expected<Real> y(p.n);
  for (std::int64_t i = 0; i < p.n; ++i) y.set(i, static_cast<Real>(read<T>(p.x, i)), 0);
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
