// SPDX-License-Identifier: Apache-2.0
// Parameters of RMSNorm: y = x / sqrt(mean(x^2) + epsilon) * weight, row by row.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct RmsNormParams {
  const void* x;       // [rows, width]
  const void* weight;  // [width]
  void* y;             // [rows, width]
  std::int64_t rows;
  std::int64_t width;
  float epsilon;
};

}  // namespace assay::kernels
