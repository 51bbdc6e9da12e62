// SPDX-License-Identifier: Apache-2.0
// Parameters of argmax over each row; the lowest index wins a tie.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct ArgmaxParams {
  const void* x;      // [rows, width]
  std::int32_t* out;  // [rows]
  std::int64_t rows;
  std::int64_t width;
};

}  // namespace assay::kernels
