// SPDX-License-Identifier: Apache-2.0
// Argmax over each row; the lowest index wins a tie, a NaN never wins, and a row of NaN gives 0. One block a row.
#pragma once

#include "kernels/argmax/params.hpp"
#include "kernels/argmax/version.hpp"
#include "kernels/common/loops.hpp"
#include "kernels/common/reduce.hpp"
#include "kernels/common/shape.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct ArgmaxKernel {
  using Params = ArgmaxParams;
  using Storage = T;
  static constexpr const char* kName = "argmax";
  static constexpr SourceVersion kVersion = kArgmaxVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.width > 0 ? shape_of_rows(p.rows, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const bool fits = rows_fit<Block>(static_cast<const T*>(p.x), p.width);
    for (std::int64_t row = block.block(); row < p.rows; row += block.blocks()) {
      const T* x = static_cast<const T*>(p.x) + row * p.width;
      const float peak = block_max(block, thread_max<T>(block, p.width, fits, kLowest, [&](auto lanes, std::int64_t i) {
                                     return load<decltype(lanes)::value>(x + i);
                                   }));
      std::int64_t index = p.width;
      for (std::int64_t i = block.thread(); i < p.width; i += block.threads()) {
        if (get(x + i) == peak) {
          index = i;
          break;
        }
      }
      index = block_min(block, index);
      if (block.thread() == 0) p.out[row] = index < p.width ? static_cast<std::int32_t>(index) : 0;
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
