// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/swiglu/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kSwigluVersion{2, 0x6ff8e4a832c8e89f};

}  // namespace assay::kernels
