// SPDX-License-Identifier: Apache-2.0
// RMSNorm: y = x / sqrt(mean(x^2) + epsilon) * weight, one block a row.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/reduce.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/rmsnorm/params.hpp"
#include "kernels/rmsnorm/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct RmsNormKernel {
  using Params = RmsNormParams;
  using Storage = T;
  static constexpr const char* kName = "rmsnorm";
  static constexpr SourceVersion kVersion = kRmsNormVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.width > 0 ? shape_of_rows(p.rows, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const T* weight = static_cast<const T*>(p.weight);
    const std::int64_t width = p.width;
    const bool fits = rows_fit<Block>(static_cast<const T*>(p.x), width) &&
                      rows_fit<Block>(static_cast<const T*>(p.y), width) && rows_fit<Block>(weight, width);
    for (std::int64_t row = block.block(); row < p.rows; row += block.blocks()) {
      const T* x = static_cast<const T*>(p.x) + row * width;
      T* y = static_cast<T*>(p.y) + row * width;
      const float squares = block_sum(block, thread_sum<T>(block, width, fits, [&](auto lanes, std::int64_t i) {
                                        const auto v = load<decltype(lanes)::value>(x + i);
                                        return v * v;
                                      }));
      const float scale = rsqrt_float(squares / static_cast<float>(width) + p.epsilon);
      for_lanes<T>(block, 0, width, fits, [&](auto lanes, std::int64_t i) {
        constexpr int kN = decltype(lanes)::value;
        store<kN>(y + i, load<kN>(x + i) * spread<kN>(scale) * load<kN>(weight + i));
      });
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
