// SPDX-License-Identifier: Apache-2.0
// Parameters of the residual addition: y = x + residual.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct ResidualAddParams {
  const void* x;         // [n]
  const void* residual;  // [n]
  void* y;               // [n]; may be x or residual
  std::int64_t n;
};

}  // namespace assay::kernels
