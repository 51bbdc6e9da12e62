// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/attention/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kAttentionVersion{1, 0x24a0ce9882ce909a};

}  // namespace assay::kernels
