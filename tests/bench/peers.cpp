// SPDX-License-Identifier: Apache-2.0
// The plain loops. SwiGLU uses the kernels' own exp, so that both sides do the same arithmetic.
#include "tests/bench/peers.hpp"

#include "kernels/common/vendor.hpp"

#define ASSAY_JOIN_(a, b) a##b
#define ASSAY_JOIN(a, b) ASSAY_JOIN_(a, b)

namespace assay::bench {
namespace {

void copy(const float* x, float* y, std::int64_t n) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

void triad(float* a, const float* b, const float* c, std::int64_t n, float scalar) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
}

void rmsnorm(const float* x, const float* weight, float* y, std::int64_t rows, std::int64_t width, float epsilon) {
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * width;
    float* out = y + r * width;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < width; ++i) sum += in[i] * in[i];
    const float scale = 1.0f / __builtin_sqrtf(sum / static_cast<float>(width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i) out[i] = in[i] * scale * weight[i];
  }
}

void swiglu(const float* gate, const float* up, float* y, std::int64_t n) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gate[i];
    const float e = kernels::exp_float(g < 0 ? g : -g);
    y[i] = g * ((g >= 0 ? 1.0f : e) / (1.0f + e)) * up[i];
  }
}

}  // namespace

Peers ASSAY_JOIN(ASSAY_ISA, _peers)() {
  return {&copy, &triad, &rmsnorm, &swiglu};
}

}  // namespace assay::bench
