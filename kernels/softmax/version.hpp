// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/softmax/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kSoftmaxVersion{1, 0x38faf9321d00d815};

}  // namespace assay::kernels
