// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/gemm/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kGemmVersion{1, 0xf57123e373c0fa4};

}  // namespace assay::kernels
