// SPDX-License-Identifier: Apache-2.0
// The tolerance rule: the one place that says how far a kernel's result may lie from its fp64 reference.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/storage.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Errors are measured per element as |result - reference| / (scale + smallest normal of the storage type), where scale
// is the reference's own (kernels/common/reference.hpp); adding the smallest normal makes half a subnormal step equal
// to one unit roundoff there too. The largest may reach
//
//   2 * naive + u(storage) + sqrt(length) * u(f32)
//
//  - naive: the largest error of the textbook loop, run on the same inputs in f32 and rounded to storage. The factor 2
//  is
//    that of FlashAttention's own tests (max |out - ref| <= 2 max |naive low precision - ref|): another order of
//    summation may be as unlucky as the textbook's is lucky.
//  - u(storage): one rounding to the output's type, u = 2^-24, 2^-11, 2^-8 for f32, f16, bf16; it keeps the rule from
//    vanishing where the textbook loop happens to be exact.
//  - sqrt(length) * u(f32): f32 accumulation of `length` terms, by the probabilistic bound of Higham and Mary, "A new
//    approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41 (2019): errors grow with the root of
//    the number of terms, against the sum of their absolute values.
//
// Kernels that only move or choose (copy, embedding, KV append, argmax) have no tolerance: every bit must be right.
template <class T>
double tolerance(double naive, std::int64_t length) {
  return 2.0 * naive + NumberTraits<T>::kUnitRoundoff +
         std::sqrt(static_cast<double>(length)) * NumberTraits<float>::kUnitRoundoff;
}

// The error of one element in the units above. A NaN anywhere, or a number where the reference has none, is infinite.
template <class T>
double scaled_error(double result, double reference, double scale) {
  if (result == reference) return 0;
  const double error = std::fabs(result - reference) / (scale + NumberTraits<T>::kMinNormal);
  return std::isfinite(error) ? error : HUGE_VAL;
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
