// SPDX-License-Identifier: Apache-2.0
// Plain OpenMP loops over f32, what a person would write without Assay; compiled like the kernels, one build a set of
// instructions.
#pragma once

#include <cstdint>

namespace assay::bench {

struct Peers {
  void (*copy)(const float* x, float* y, std::int64_t n);
  void (*triad)(float* a, const float* b, const float* c, std::int64_t n, float scalar);
  void (*rmsnorm)(const float* x, const float* weight, float* y, std::int64_t rows, std::int64_t width, float epsilon);
  void (*swiglu)(const float* gate, const float* up, float* y, std::int64_t n);
};

Peers baseline_peers();
Peers v3_peers();

}  // namespace assay::bench
