// SPDX-License-Identifier: Apache-2.0
// Reference of the embedding gather, on host memory. Exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/reference.hpp"
#include "kernels/embedding/params.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T, class Real>
Expected<Real> embedding_reference(const EmbeddingParams& p) {
  Expected<Real> y(p.tokens * p.width);
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    for (std::int64_t i = 0; i < p.width; ++i) {
      y.set(t * p.width + i, static_cast<Real>(read<T>(p.table, p.ids[t] * p.width + i)), 0);
    }
  }
  return y;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
