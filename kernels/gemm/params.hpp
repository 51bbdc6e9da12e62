// SPDX-License-Identifier: Apache-2.0
// Parameters of GEMM: c = activation(a * b^T + bias), f32 accumulation.
#pragma once

#include <cstdint>

namespace assay::kernels {

enum GemmActivation : std::int32_t { kGemmNone = 0, kGemmRelu = 1 };

struct GemmParams {
  const void* a;     // [m, k]
  const void* b;     // [n, k], as a linear layer stores its weight
  const void* bias;  // [n], or null
  void* c;           // [m, n]
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int32_t activation;  // GemmActivation
};

}  // namespace assay::kernels
