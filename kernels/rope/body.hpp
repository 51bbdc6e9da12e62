// SPDX-License-Identifier: Apache-2.0
// RoPE in place: elements i and i + head_dim / 2 of each head turn by position * theta^(-2 i / head_dim). One block a
// token.
#pragma once

#include "kernels/common/loops.hpp"
#include "kernels/common/shape.hpp"
#include "kernels/rope/params.hpp"
#include "kernels/rope/version.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Sine and cosine of position * frequency, both in turns. The phase is kept as a 64-bit fraction of a turn, whose
// product with the position wraps exactly, so that large positions lose nothing in reduction; what is left lies within
// an eighth of a turn, where the Taylor series to degree 9 and 10 have remainders below 2e-9.
struct Rotation {
  float cosine;
  float sine;
};
ASSAY_DEVICE Rotation rotation(std::int32_t position, float turns) {
  const auto step = static_cast<std::uint64_t>(turns * 0x1p64f);
  const std::uint64_t phase = static_cast<std::uint64_t>(static_cast<std::int64_t>(position)) * step;
  const auto fraction = static_cast<std::uint32_t>(phase >> 32);
  const std::uint32_t quadrant = (fraction + 0x20000000u) >> 30;
  const auto rest = static_cast<std::int32_t>(fraction - (quadrant << 30));
  const float x = static_cast<float>(rest) * (6.28318531f * 0x1p-32f);
  const float s = x * x;
  const float sine = x + x * s * (-1.0f / 6.0f + s * (1.0f / 120.0f + s * (-1.0f / 5040.0f + s * (1.0f / 362880.0f))));
  const float cosine =
      1.0f + s * (-0.5f + s * (1.0f / 24.0f + s * (-1.0f / 720.0f + s * (1.0f / 40320.0f + s * (-1.0f / 3628800.0f)))));
  const float c = (quadrant & 1u) != 0 ? sine : cosine;
  const float d = (quadrant & 1u) != 0 ? cosine : sine;
  return {((quadrant + 1u) & 2u) != 0 ? -c : c, (quadrant & 2u) != 0 ? -d : d};
}

template <class T>
struct RopeKernel {
  using Params = RopeParams;
  using Storage = T;
  static constexpr const char* kName = "rope";
  static constexpr SourceVersion kVersion = kRopeVersion;

  static LaunchShape shape(const Params& p, const Target& target) {
    return p.heads * p.head_dim > 0 ? shape_of_rows(p.tokens, target) : LaunchShape{};
  }

  template <class Block>
  ASSAY_DEVICE static void run(const Block& block, const Params& p) {
    const std::int64_t half = p.head_dim / 2;
    for (std::int64_t token = block.block(); token < p.tokens; token += block.blocks()) {
      T* x = static_cast<T*>(p.x) + token * p.heads * p.head_dim;
      const std::int32_t position = p.positions[token];
      for (std::int64_t i = block.thread(); i < half; i += block.threads()) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(p.head_dim);
        const Rotation turn = rotation(position, 0.159154943f / pow_float(p.theta, exponent));
        ASSAY_ROLLED  // unrolled, it spills on sm_90
            for (std::int64_t head = 0; head < p.heads; ++head) {
          T* low = x + head * p.head_dim + i;
          T* high = low + half;
          const float a = get(low);
          const float b = get(high);
          put(low, a * turn.cosine - b * turn.sine);
          put(high, b * turn.cosine + a * turn.sine);
        }
      }
    }
  }
};

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
