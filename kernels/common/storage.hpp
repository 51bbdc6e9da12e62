// SPDX-License-Identifier: Apache-2.0
// Storage types of the kernels: float, and f16 and bf16 as 16 bits of ours, converted by rounding to nearest even.
#pragma once

#include <cstdint>

#include "kernels/common/vendor.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};

// What a storage type is: its name in documents, and the numbers error bounds are made of (IEEE 754-2019 table 3.5 for
// f32 and f16; bf16 has the exponent of f32 and 8 bits of significand).
template <class T>
struct NumberTraits;
template <>
struct NumberTraits<float> {
  static constexpr const char* kName = "f32";
  static constexpr double kUnitRoundoff = 0x1p-24;
  static constexpr double kMinNormal = 0x1p-126;
};
template <>
struct NumberTraits<f16> {
  static constexpr const char* kName = "f16";
  static constexpr double kUnitRoundoff = 0x1p-11;
  static constexpr double kMinNormal = 0x1p-14;
};
template <>
struct NumberTraits<bf16> {
  static constexpr const char* kName = "bf16";
  static constexpr double kUnitRoundoff = 0x1p-8;
  static constexpr double kMinNormal = 0x1p-126;
};

// N consecutive elements from `from`. On a GPU `from` is aligned to N elements.
template <int N>
ASSAY_DEVICE Lanes<N> load(const float* from) {
  return load_f32<N>(from);
}
template <int N>
ASSAY_DEVICE Lanes<N> load(const f16* from) {
  return load_f16<N>(from);
}
template <int N>
ASSAY_DEVICE Lanes<N> load(const bf16* from) {
  return load_bf16<N>(from);
}
template <int N>
ASSAY_DEVICE void store(float* to, const Lanes<N>& x) {
  store_f32<N>(to, x);
}
template <int N>
ASSAY_DEVICE void store(f16* to, const Lanes<N>& x) {
  store_f16<N>(to, x);
}
template <int N>
ASSAY_DEVICE void store(bf16* to, const Lanes<N>& x) {
  store_bf16<N>(to, x);
}

// N elements moved as they are.
template <int N, class T>
ASSAY_DEVICE void copy_bits(T* to, const T* from) {
  if constexpr (sizeof(T) == 4) {
    store_f32<N>(to, load_f32<N>(from));
  } else {
    if constexpr (N > 1) {
      store_f32<N / 2>(to, load_f32<N / 2>(from));
    } else {
      *to = *from;
    }
  }
}

// One element.
template <class T>
ASSAY_DEVICE float get(const T* from) {
  return lane_sum(load<1>(from));
}
template <class T>
ASSAY_DEVICE void put(T* to, float value) {
  store<1>(to, spread<1>(value));
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
