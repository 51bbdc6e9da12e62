// SPDX-License-Identifier: Apache-2.0
// Copy: y = x.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/copy/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct CopyKernel {
  using Params = CopyParams;
  using Storage = T;
  static constexpr const char* kName = "copy";
  static constexpr SourceVersion kVersion = kCopyVersion;

  static LaunchShape shape(const Params& p, const Target& target) { return shape_of_elements(p.n, sizeof(T), target); }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const T* x = static_cast<const T*>(p.x);
    T* y = static_cast<T*>(p.y);
    const Range range = block_range(block, p.n);
    if constexpr (Block::kSerial) {
      // What compilers make of the plain loop too: memcpy knows when to write around the caches.
      __builtin_memcpy(y + range.first, x + range.first,
                       static_cast<std::size_t>(range.last - range.first) * sizeof(T));
    } else {
      const bool fits = rows_fit<Block>(x, 0) && rows_fit<Block>(y, 0);
      for_lanes<T>(block, range.first, range.last, fits, [&](auto lanes, std::int64_t i) {
        constexpr int kN = decltype(lanes)::value;
        copy_bits<kN>(y + i, x + i);
      });
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
