// SPDX-License-Identifier: Apache-2.0
// Parameters of SwiGLU: y = gate * sigmoid(gate) * up.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct SwigluParams {
  const void* gate;  // [n]
  const void* up;    // [n]
  void* y;           // [n]
  std::int64_t n;
};

}  // namespace assay::kernels
