// SPDX-License-Identifier: Apache-2.0
// The cases of each kernel, for one storage type; instantiated for float, f16 and bf16.
#pragma once

#include <vector>

#include "suite/check/case.hpp"
#include "suite/check/draw.hpp"

namespace assay::check {

template <class T>
std::vector<Case> elementwise_cases(const std::string& kernel, Depth depth, Random& random);
template <class T>
std::vector<Case> row_cases(const std::string& kernel, Depth depth, Random& random);
template <class T>
std::vector<Case> moving_cases(const std::string& kernel, Depth depth, Random& random);
template <class T>
std::vector<Case> gemm_cases(Depth depth, Random& random);
template <class T>
std::vector<Case> attention_cases(const std::string& kernel, Depth depth, Random& random);

}  // namespace assay::check
