// SPDX-License-Identifier: Apache-2.0
// Triad: a = b + scalar * c.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/triad/params.hpp"
#include "kernels/triad/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

template <class T>
struct TriadKernel {
  using Params = TriadParams;
  using Storage = T;
  static constexpr const char* kName = "triad";
  static constexpr SourceVersion kVersion = kTriadVersion;

  static LaunchShape shape(const Params& p, const Target& target) { return shape_of_elements(p.n, sizeof(T), target); }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    T* a = static_cast<T*>(p.a);
    const T* b = static_cast<const T*>(p.b);
    const T* c = static_cast<const T*>(p.c);
    const float scalar = p.scalar;
    const Range range = block_range(block, p.n);
    const bool fits = rows_fit<Block>(a, 0) && rows_fit<Block>(b, 0) && rows_fit<Block>(c, 0);
    for_lanes<T>(block, range.first, range.last, fits, [&](auto lanes, std::int64_t i) {
      constexpr int kN = decltype(lanes)::value;
      store<kN>(a + i, load<kN>(b + i) + spread<kN>(scalar) * load<kN>(c + i));
    });
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
