// SPDX-License-Identifier: Apache-2.0
// Which cases belong to which kernel.
#include "suite/check/cases.hpp"

#include <sstream>

#include "suite/check/make_case.hpp"

namespace assay::check {
namespace {

template <class T>
std::vector<Case> cases_in(const std::string& kernel, Depth depth, Random& random) {
  if (kernel == "copy" || kernel == "triad" || kernel == "residual_add" || kernel == "swiglu") {
    return elementwise_cases<T>(kernel, depth, random);
  }
  if (kernel == "rmsnorm" || kernel == "softmax" || kernel == "argmax" || kernel == "rope") {
    return row_cases<T>(kernel, depth, random);
  }
  if (kernel == "embedding" || kernel == "kv_append") return moving_cases<T>(kernel, depth, random);
  if (kernel == "gemm") return gemm_cases<T>(depth, random);
  if (kernel == "attention_prefill" || kernel == "attention_decode") {
    return attention_cases<T>(kernel, depth, random);
  }
  return {};
}

}  // namespace

std::string wrong_element(std::size_t buffer, std::size_t index, double result, double expected, bool untouched) {
  std::ostringstream text;
  text.precision(9);
  text << "element " << index << " of array " << buffer;
  if (untouched) {
    text << " was never written";
  } else {
    text << " is " << result << " where the reference has " << expected;
  }
  return text.str();
}

std::vector<Case> cases_of(const std::string& kernel, const std::string& dtype, Depth depth, std::uint64_t seed) {
  Random random(seed);
  if (dtype == "f32") return cases_in<float>(kernel, depth, random);
  if (dtype == "f16") return cases_in<kernels::f16>(kernel, depth, random);
  if (dtype == "bf16") return cases_in<kernels::bf16>(kernel, depth, random);
  return {};
}

}  // namespace assay::check
