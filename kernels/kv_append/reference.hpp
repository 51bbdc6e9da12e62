// SPDX-License-Identifier: Apache-2.0
// Reference of KV append, on host memory: the caches afterwards, keys then values. Exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/kv_append/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> kv_append_reference(const KvAppendParams& p) {
  const std::int64_t width = p.kv_heads * p.head_dim;
  const std::int64_t cache = p.batch * p.capacity * width;
  Expected<Real> y(2 * cache);
  for (std::int64_t i = 0; i < cache; ++i) {
    y.set(i, static_cast<Real>(read<T>(p.cache_k, i)), 0);
    y.set(cache + i, static_cast<Real>(read<T>(p.cache_v, i)), 0);
  }
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t t = 0; t < p.new_tokens; ++t) {
      const std::int64_t to = (b * p.capacity + (p.start + t) % p.capacity) * width;
      const std::int64_t from = (b * p.new_tokens + t) * width;
      for (std::int64_t i = 0; i < width; ++i) {
        y.set(to + i, static_cast<Real>(read<T>(p.k, from + i)), 0);
        y.set(cache + to + i, static_cast<Real>(read<T>(p.v, from + i)), 0);
      }
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
