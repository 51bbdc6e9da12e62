// SPDX-License-Identifier: Apache-2.0
// Reference of GEMM, on host memory. Terms: the products and the bias; ReLU passes errors on as they are.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/gemm/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> gemm_reference(const GemmParams& p) {
  Expected<Real> c(p.m * p.n, p.k + 1);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      Real sum = 0;
      double scale = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        const Real product =
            static_cast<Real>(read<T>(p.a, i * p.k + k)) * static_cast<Real>(read<T>(p.b, j * p.k + k));
        sum += product;
        scale += std::fabs(static_cast<double>(product));
      }
      if (p.bias != nullptr) {
        const Real bias = static_cast<Real>(read<T>(p.bias, j));
        sum += bias;
        scale += std::fabs(static_cast<double>(bias));
      }
      if (p.activation == kGemmRelu && sum < 0) sum = 0;
      c.set(i * p.n + j, sum, scale);
    }
  }
  return c;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
