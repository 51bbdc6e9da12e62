// SPDX-License-Identifier: Apache-2.0
// Cases of copy, triad, residual_add and swiglu.
#include <array>

#include "kernels/copy/reference.hpp"
#include "kernels/residual_add/reference.hpp"
#include "kernels/swiglu/reference.hpp"
#include "kernels/triad/reference.hpp"
#include "suite/check/cases.hpp"
#include "suite/check/make_case.hpp"

namespace assay::check {

namespace k = kernels;

template <class T>
std::vector<Case> elementwise_cases(const std::string& kernel, Depth depth, Random& random) {
  std::vector<std::int64_t> sizes = {1, 1003};
  if (depth == Depth::full) sizes = {0, 1, 7, 64, 4097, 70001};
  std::vector<Case> cases;
  for (const std::int64_t n : sizes) {
    const std::string shape = "n=" + std::to_string(n);
    if (kernel == "copy") {
      cases.push_back(make_case<T, T, k::CopyParams>(
          kernel, shape, {drawn<T>(random, n), output<T>(n)},
          [n](const std::vector<void*>& a) {
            return k::CopyParams{a[0], a[1], n};
          },
          {&k::copy_reference<T, double>, &k::copy_reference<T, float>}, Exactness::exact));
    } else if (kernel == "triad") {
      cases.push_back(make_case<T, T, k::TriadParams>(
          kernel, shape, {output<T>(n), drawn<T>(random, n), drawn<T>(random, n)},
          [n](const std::vector<void*>& a) {
            return k::TriadParams{a[0], a[1], a[2], n, 0.4f};
          },
          {&k::triad_reference<T, double>, &k::triad_reference<T, float>}, Exactness::rounded));
    } else if (kernel == "residual_add") {
      cases.push_back(make_case<T, T, k::ResidualAddParams>(
          kernel, shape, {drawn<T>(random, n), drawn<T>(random, n), output<T>(n)},
          [n](const std::vector<void*>& a) {
            return k::ResidualAddParams{a[0], a[1], a[2], n};
          },
          {&k::residual_add_reference<T, double>, &k::residual_add_reference<T, float>}, Exactness::rounded));
    } else if (kernel == "swiglu") {
      cases.push_back(make_case<T, T, k::SwigluParams>(
          kernel, shape, {drawn<T>(random, n, -20, 20), drawn<T>(random, n), output<T>(n)},
          [n](const std::vector<void*>& a) {
            return k::SwigluParams{a[0], a[1], a[2], n};
          },
          {&k::swiglu_reference<T, double>, &k::swiglu_reference<T, float>}, Exactness::rounded));
    }
  }
  return cases;
}

template std::vector<Case> elementwise_cases<float>(const std::string&, Depth, Random&);
template std::vector<Case> elementwise_cases<k::f16>(const std::string&, Depth, Random&);
template std::vector<Case> elementwise_cases<k::bf16>(const std::string&, Depth, Random&);

}  // namespace assay::check
