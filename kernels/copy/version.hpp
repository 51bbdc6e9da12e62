// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/copy/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kCopyVersion{1, 0x959559618b1659d3};

}  // namespace assay::kernels
