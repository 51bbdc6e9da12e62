// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/argmax/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kArgmaxVersion{1, 0x589b687e7774e5d9};

}  // namespace assay::kernels
