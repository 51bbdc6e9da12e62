// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/kv_append/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kKvAppendVersion{1, 0x7affb4bc160797e1};

}  // namespace assay::kernels
