// SPDX-License-Identifier: Apache-2.0
// Parameters of triad: a = b + scalar * c.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct TriadParams {
  void* a;        // [n]
  const void* b;  // [n]
  const void* c;  // [n]
  std::int64_t n;
  float scalar;
};

}  // namespace assay::kernels
