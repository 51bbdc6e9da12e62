// SPDX-License-Identifier: Apache-2.0
// Parameters of copy: y = x.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct CopyParams {
  const void* x;  // [n]
  void* y;        // [n]
  std::int64_t n;
};

}  // namespace assay::kernels
