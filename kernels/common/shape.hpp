// SPDX-License-Identifier: Apache-2.0
// Launch shapes shared by several kernels.
#pragma once

#include <cstdint>

#include "kernels/common/kernel.hpp"
#include "kernels/common/vendor.hpp"

namespace assay::kernels {
inline namespace ASSAY_ISA {

// Both vendors take 2^31 - 1 blocks in x; every kernel strides over the rest.
inline constexpr std::uint64_t kMaxGrid = 0x7fffffff;

inline std::uint32_t block_threads(const Target& target, std::uint32_t wanted = kMaxBlock) {
  return target.max_threads < wanted ? target.max_threads : wanted;
}

// One block for each of `count` rows or tiles.
inline LaunchShape shape_of_rows(std::int64_t count, const Target& target) {
  if (count <= 0) return {};
  const auto wanted = static_cast<std::uint64_t>(count);
  return {wanted < kMaxGrid ? wanted : kMaxGrid, block_threads(target), 0};
}

// Element-wise work over n elements of element_bytes: on a CPU one contiguous part a CPU thread; on a GPU enough blocks
// for one 16-byte access a thread, up to 32 blocks a multiprocessor (full occupancy of 256-thread blocks, some times
// over).
inline LaunchShape shape_of_elements(std::int64_t n, std::uint32_t element_bytes, const Target& target) {
  if (n <= 0) return {};
  const std::uint32_t block = block_threads(target);
  const std::uint64_t multiprocessors = target.multiprocessors > 0 ? target.multiprocessors : 1;
  const bool serial = target.wave == 1;
  const std::uint64_t elements_a_block = serial ? 4096 : std::uint64_t{block} * (16 / element_bytes);
  const std::uint64_t most = serial ? multiprocessors : multiprocessors * 32;
  const std::uint64_t wanted = (static_cast<std::uint64_t>(n) + elements_a_block - 1) / elements_a_block;
  return {wanted < most ? wanted : most, block, 0};
}

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
