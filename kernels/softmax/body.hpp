// SPDX-License-Identifier: Apache-2.0
// Softmax: y = exp(x - max x) / sum exp(x - max x), one block a row.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/reduce.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/softmax/params.hpp"
#include "kernels/softmax/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct SoftmaxKernel {
  using Params = SoftmaxParams;
  using Storage = T;
  static constexpr const char* kName = "softmax";
  static constexpr SourceVersion kVersion = kSoftmaxVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.width > 0 ? shape_of_rows(p.rows, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const std::int64_t width = p.width;
    const bool fits =
        rows_fit<Block>(static_cast<const T*>(p.x), width) && rows_fit<Block>(static_cast<const T*>(p.y), width);
    for (std::int64_t row = block.block(); row < p.rows; row += block.blocks()) {
      const T* x = static_cast<const T*>(p.x) + row * width;
      T* y = static_cast<T*>(p.y) + row * width;
      const float peak = block_max(block, thread_max<T>(block, width, fits, kLowest, [&](auto lanes, std::int64_t i) {
                                     return load<decltype(lanes)::value>(x + i);
                                   }));
      const float sum = block_sum(block, thread_sum<T>(block, width, fits, [&](auto lanes, std::int64_t i) {
                                    constexpr int kN = decltype(lanes)::value;
                                    return exp_lanes(load<kN>(x + i) - spread<kN>(peak));
                                  }));
      const float scale = 1.0f / sum;
      for_lanes<T>(block, 0, width, fits, [&](auto lanes, std::int64_t i) {
        constexpr int kN = decltype(lanes)::value;
        store<kN>(y + i, exp_lanes(load<kN>(x + i) - spread<kN>(peak)) * spread<kN>(scale));
      });
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
