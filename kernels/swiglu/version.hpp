// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/swiglu/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kSwigluVersion{1, 0x3501dbfb3b860d62};

}  // namespace assay::kernels
