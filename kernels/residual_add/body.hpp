// SPDX-License-Identifier: Apache-2.0
// Residual addition: y = x + residual.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/residual_add/params.hpp"
#include "kernels/residual_add/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct ResidualAddKernel {
  using Params = ResidualAddParams;
  using Storage = T;
  static constexpr const char* kName = "residual_add";
  static constexpr SourceVersion kVersion = kResidualAddVersion;

  static LaunchShape shape(const Params& p, const Target& target) { return shape_of_elements(p.n, sizeof(T), target); }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const T* x = static_cast<const T*>(p.x);
    const T* residual = static_cast<const T*>(p.residual);
    T* y = static_cast<T*>(p.y);
    const Range range = block_range(block, p.n);
    const bool fits = rows_fit<Block>(x, 0) && rows_fit<Block>(residual, 0) && rows_fit<Block>(y, 0);
    for_lanes<T>(block, range.first, range.last, fits, [&](auto lanes, std::int64_t i) {
      constexpr int kN = decltype(lanes)::value;
      store<kN>(y + i, load<kN>(x + i) + load<kN>(residual + i));
    });
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
