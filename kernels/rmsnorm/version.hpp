// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/rmsnorm/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kRmsNormVersion{1, 0x3371b0daf27413cd};

}  // namespace assay::kernels
