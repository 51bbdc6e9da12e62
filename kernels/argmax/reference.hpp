// SPDX-License-Identifier: Apache-2.0
// Reference of argmax, on host memory: the lowest index of the largest value. Exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/argmax/params.hpp"
#include "kernels/common/reference.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> argmax_reference(const ArgmaxParams& p) {
  Expected<Real> out(p.rows);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < p.width; ++i) {
      if (read<T>(p.x, r * p.width + i) > read<T>(p.x, r * p.width + best)) best = i;
    }
    out.set(r, static_cast<Real>(best), 0);
  }
  return out;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
