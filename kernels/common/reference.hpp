// SPDX-License-Identifier: Apache-2.0
// What the fp64 references share: reading storage as a real number, and the expected values with their scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/storage.hpp"
#include "kernels/common/tolerance.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// What a kernel should have written, element by element in the order of its output.
//  value: computed in Real arithmetic from the stored inputs.
//  scale: the magnitude that rounding errors of this element are proportional to: the sum of the absolute values of the
//         terms it is summed from. Where an intermediate value is rounded to f32 and its error is amplified on the way,
//         the amplification (the condition) counts too, weighted by f32_share: only f32 errors pass that way.
//  length: rounding errors an element can gather, the longest chain of terms.
template <class Real>
struct Expected {
  std::vector<Real> value;
  std::vector<double> scale;
  std::int64_t length = 0;

  explicit Expected(std::int64_t count, std::int64_t chain = 1)
      : value(static_cast<std::size_t>(count)), scale(static_cast<std::size_t>(count)), length(chain) {}
  void set(std::int64_t at, Real v, double s) {
    value[static_cast<std::size_t>(at)] = v;
    scale[static_cast<std::size_t>(at)] = s;
  }
};

// The unit roundoff of f32 over that of storage T: what an f32 error weighs in units of storage rounding.
template <class T>
constexpr double f32_share() {
  return NumberTraits<float>::kUnitRoundoff / NumberTraits<T>::kUnitRoundoff;
}

// Element `at` of an array of T, as a number. Every stored value is exact in float.
template <class T>
double read(const void* array, std::int64_t at) {
  return static_cast<double>(get(static_cast<const T*>(array) + at));
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
