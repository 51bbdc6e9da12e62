// SPDX-License-Identifier: Apache-2.0
// Arrays of conversions and exponentials, one build an instruction set.
#include "tests/unit/kernels_convert.hpp"

#include "kernels/common/storage.hpp"

#define ASSAY_TEXT(x) #x
#define ASSAY_NAME(x) ASSAY_TEXT(x)

namespace assay::kernels {
inline namespace ASSAY_ISA {
namespace {

template <class From, class To, class FromBits, class ToBits>
void convert(const FromBits* from, ToBits* to, std::size_t count, bool eight) {
  const auto* in = reinterpret_cast<const From*>(from);
  auto* out = reinterpret_cast<To*>(to);
  for (std::size_t i = 0; i < count; i += eight ? 8 : 1) {
    if (eight) {
      store<8>(out + i, load<8>(in + i));
    } else {
      store<1>(out + i, load<1>(in + i));
    }
  }
}

void exponential(const float* from, float* to, std::size_t count, bool eight) {
  for (std::size_t i = 0; i < count; i += eight ? 8 : 1) {
    if (eight) {
      store<8>(to + i, exp_lanes(load<8>(from + i)));
    } else {
      store<1>(to + i, exp_lanes(load<1>(from + i)));
    }
  }
}

}  // namespace

Conversions conversions() {
  return {ASSAY_NAME(ASSAY_ISA),
          &convert<f16, float, std::uint16_t, float>,
          &convert<float, f16, float, std::uint16_t>,
          &convert<bf16, float, std::uint16_t, float>,
          &convert<float, bf16, float, std::uint16_t>,
          &exponential};
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
