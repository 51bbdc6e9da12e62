// SPDX-License-Identifier: Apache-2.0
// Cost of GEMM: a, b and bias read, c written; 2 m n k, and one operation an output for each of bias and activation.
#pragma once

#include <cstdint>

#include "kernels/common/model.hpp"
#include "kernels/gemm/params.hpp"

namespace assay::kernels {

inline Cost cost(const GemmParams& p, std::int64_t element_bytes) {
  if (p.m == 0 || p.n == 0) return {};
  const std::int64_t bias = p.bias != nullptr ? 1 : 0;
  const std::int64_t activation = p.activation != kGemmNone ? 1 : 0;
  return {(p.m * p.k + p.n * p.k + p.m * p.n + bias * p.n) * element_bytes, p.m * p.n * (2 * p.k + bias + activation)};
}

}  // namespace assay::kernels
