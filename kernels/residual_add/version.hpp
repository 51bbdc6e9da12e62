// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/residual_add/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kResidualAddVersion{1, 0xf36da097fb600bb7};

}  // namespace assay::kernels
