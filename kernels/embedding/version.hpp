// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/embedding/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kEmbeddingVersion{1, 0x9febebb1adb1a34};

}  // namespace assay::kernels
