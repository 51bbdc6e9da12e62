// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/triad/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kTriadVersion{1, 0xbfb1e0b9495b2180};

}  // namespace assay::kernels
