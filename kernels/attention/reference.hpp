// SPDX-License-Identifier: Apache-2.0
// Reference of attention, on host memory.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/attention/params.hpp"
#include "kernels/common/reference.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Terms of an output: weight * value. A weight passes on the absolute error of its score, which is proportional to
// |scale| * sum |q k|; the largest over the keys seen is the condition.
template <class T, class Real>
Expected<Real> attention_reference(const AttentionParams& p) {
  const std::int64_t longest = p.window > 0 && p.window < p.start + p.q_tokens ? p.window : p.start + p.q_tokens;
  Expected<Real> y(p.batch * p.q_tokens * p.q_heads * p.head_dim, p.head_dim + longest);
  const std::int64_t group = p.q_heads / p.kv_heads;
  for (std::int64_t row = 0; row < p.batch * p.q_tokens * p.q_heads; ++row) {
    const std::int64_t head = row % p.q_heads;
    const std::int64_t position = p.start + row / p.q_heads % p.q_tokens;
    const std::int64_t batch = row / p.q_heads / p.q_tokens;
    const std::int64_t first = p.window > 0 && position >= p.window ? position - p.window + 1 : 0;
    const auto cached = [&](std::int64_t at) {
      return ((batch * p.capacity + at % p.capacity) * p.kv_heads + head / group) * p.head_dim;
    };
    std::vector<Real> weight(static_cast<std::size_t>(position - first + 1));
    double condition = 0;
    Real peak = 0;
    for (std::int64_t at = first; at <= position; ++at) {
      Real score = 0;
      double size = 0;
      for (std::int64_t d = 0; d < p.head_dim; ++d) {
        const Real product = static_cast<Real>(read<T>(p.q, row * p.head_dim + d)) *
                             static_cast<Real>(read<T>(p.cache_k, cached(at) + d));
        score += product;
        size += std::fabs(static_cast<double>(product));
      }
      score *= static_cast<Real>(p.scale);
      condition = std::fmax(condition, size * std::fabs(static_cast<double>(p.scale)));
      peak = at == first ? score : std::fmax(peak, score);
      weight[static_cast<std::size_t>(at - first)] = score;
    }
    Real total = 0;
    for (Real& w : weight) {
      w = std::exp(w - peak);
      total += w;
    }
    for (std::int64_t d = 0; d < p.head_dim; ++d) {
      Real sum = 0;
      double size = 0;
      for (std::int64_t at = first; at <= position; ++at) {
        const Real term = weight[static_cast<std::size_t>(at - first)] / total *
                          static_cast<Real>(read<T>(p.cache_v, cached(at) + d));
        sum += term;
        size += std::fabs(static_cast<double>(term));
      }
      y.set(row * p.head_dim + d, sum, size * (1 + f32_share<T>() * condition));
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
