// SPDX-License-Identifier: Apache-2.0
// Source version of kernels/rope/body.hpp.
#pragma once

#include "kernels/common/version.hpp"

namespace assay::kernels {

inline constexpr SourceVersion kRopeVersion{1, 0xd06433ed20a51bd1};

}  // namespace assay::kernels
