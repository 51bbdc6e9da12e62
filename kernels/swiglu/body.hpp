// SPDX-License-Identifier: Apache-2.0
// SwiGLU: y = gate * sigmoid(gate) * up.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/swiglu/params.hpp"
#include "kernels/swiglu/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct SwigluKernel {
  using Params = SwigluParams;
  using Storage = T;
  static constexpr const char* kName = "swiglu";
  static constexpr SourceVersion kVersion = kSwigluVersion;

  static LaunchShape shape(const Params& p, const Target& target) { return shape_of_elements(p.n, sizeof(T), target); }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const T* gate = static_cast<const T*>(p.gate);
    const T* up = static_cast<const T*>(p.up);
    T* y = static_cast<T*>(p.y);
    const Range range = block_range(block, p.n);
    const bool fits = rows_fit<Block>(gate, 0) && rows_fit<Block>(up, 0) && rows_fit<Block>(y, 0);
    for_lanes<T>(block, range.first, range.last, fits, [&](auto lanes, std::int64_t i) {
      constexpr int kN = decltype(lanes)::value;
      const auto g = load<kN>(gate + i);
      // sigmoid(g) is 1 / (1 + e) for g >= 0 and e / (1 + e) below, e = exp(-|g|): no overflow either way.
      const auto one = spread<kN>(1.0f);
      const auto e = exp_lanes(negative_magnitude(g));
      store<kN>(y + i, g * (where_not_negative(g, one, e) / (one + e)) * load<kN>(up + i));
    });
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
