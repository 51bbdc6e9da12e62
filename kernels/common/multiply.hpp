// SPDX-License-Identifier: Apache-2.0
// The register tile of a matrix product, shared by GEMM and attention.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/vendor.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// kRows x kColumns sums of N lanes each.
template <int kRows, int kColumns, int N>
struct Piece {
  Lanes<N> at[static_cast<std::size_t>(kRows)][static_cast<std::size_t>(kColumns)];
};

// sums.at[i][j] += a(i, k) * b(j, k) over k of [first, last), N of them a step. a and b take the lane count, the row
// and k, and return Lanes<N>. last - first is a multiple of N.
template <int kRows, int kColumns, int N, class LoadA, class LoadB>
ASSAY_DEVICE void multiply(Piece<kRows, kColumns, N>& sums, std::int64_t first, std::int64_t last, const LoadA& a,
                           const LoadB& b) {
  ASSAY_STEPS
  for (std::int64_t k = first; k < last; k += N) {
    Lanes<N> left[static_cast<std::size_t>(kRows)];
    Lanes<N> right[static_cast<std::size_t>(kColumns)];
    ASSAY_UNROLL
    for (int i = 0; i < kRows; ++i) left[i] = a(i, k);
    ASSAY_UNROLL
    for (int j = 0; j < kColumns; ++j) right[j] = b(j, k);
    ASSAY_UNROLL
    for (int i = 0; i < kRows; ++i) {
      ASSAY_UNROLL
      for (int j = 0; j < kColumns; ++j) sums.at[i][j] = sums.at[i][j] + left[i] * right[j];
    }
  }
}

template <int kRows, int kColumns, int N>
ASSAY_DEVICE void clear(Piece<kRows, kColumns, N>& sums) {
  ASSAY_UNROLL
  for (int i = 0; i < kRows; ++i) {
    ASSAY_UNROLL
    for (int j = 0; j < kColumns; ++j) sums.at[i][j] = spread<N>(0.0f);
  }
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
