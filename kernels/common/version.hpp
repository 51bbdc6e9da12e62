// SPDX-License-Identifier: Apache-2.0
// Source versions: an integer that grows with every change of a kernel's source, and the hash that notices one.
#pragma once

#include <cstdint>

namespace assay::kernels {

// `hash` is 64-bit FNV-1a over the source without comments and white space; a test recomputes it and says what to do.
struct SourceVersion {
  std::int32_t version;
  std::uint64_t hash;
};

// Of the headers every kernel is made with: vendor, host_lanes, host_block, storage, loops, multiply, reduce, shape.
// A kernel's published version is its own plus this one.
inline constexpr SourceVersion kCommonVersion{3, 0x3d6b2e4a7878d087};

}  // namespace assay::kernels
