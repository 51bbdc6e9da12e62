// SPDX-License-Identifier: Apache-2.0
// Parameters of softmax, row by row.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct SoftmaxParams {
  const void* x;  // [rows, width]
  void* y;        // [rows, width]
  std::int64_t rows;
  std::int64_t width;
};

}  // namespace assay::kernels
