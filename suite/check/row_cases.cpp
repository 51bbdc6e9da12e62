// SPDX-License-Identifier: Apache-2.0
// Cases of rmsnorm, softmax, argmax and rope.
#include <cstring>

#include "kernels/argmax/reference.hpp"
#include "kernels/rmsnorm/reference.hpp"
#include "kernels/rope/reference.hpp"
#include "kernels/softmax/reference.hpp"
#include "suite/check/cases.hpp"
#include "suite/check/make_case.hpp"

namespace assay::check {

namespace k = kernels;

namespace {

struct Rows {
  std::int64_t rows;
  std::int64_t width;
};

// Multiples of 1/8 only, so that the largest value of a row is often there more than once.
template <class T>
Buffer drawn_with_ties(Random& random, std::int64_t count) {
  Buffer buffer{Bytes(static_cast<std::size_t>(count) * sizeof(T)), false};
  for (std::int64_t i = 0; i < count; ++i) {
    T element;
    k::put(&element, static_cast<float>(random.index(17) - 8) * 0.125f);
    std::memcpy(buffer.before.data() + static_cast<std::size_t>(i) * sizeof(T), &element, sizeof(T));
  }
  return buffer;
}

template <class T>
Case rope_case(std::int64_t tokens, std::int64_t heads, std::int64_t head_dim, std::int64_t positions, Random& random) {
  Buffer x = drawn<T>(random, tokens * heads * head_dim);
  x.written = true;
  Buffer at = drawn_indices(random, tokens, positions);
  return make_case<T, T, k::RopeParams>(
      "rope",
      "tokens=" + std::to_string(tokens) + " heads=" + std::to_string(heads) + " head_dim=" + std::to_string(head_dim),
      {std::move(x), std::move(at)},
      [=](const std::vector<void*>& a) {
        return k::RopeParams{a[0], static_cast<const std::int32_t*>(a[1]), tokens, heads, head_dim, 10000.0f};
      },
      {&k::rope_reference<T, double>, &k::rope_reference<T, float>}, Exactness::rounded);
}

}  // namespace

template <class T>
std::vector<Case> row_cases(const std::string& kernel, Depth depth, Random& random) {
  std::vector<Case> cases;
  if (kernel == "rope") {
    cases.push_back(rope_case<T>(5, 3, 10, 7133, random));
    if (depth == Depth::full) {
      cases.push_back(rope_case<T>(0, 3, 64, 10, random));
      cases.push_back(rope_case<T>(1, 1, 2, 4, random));
      cases.push_back(rope_case<T>(7133, 3, 6, 7133, random));
      cases.push_back(rope_case<T>(33, 9, 64, 2048, random));
    }
    return cases;
  }
  std::vector<Rows> shapes = {{1, 1}, {7, 577}};
  if (depth == Depth::full) shapes = {{0, 5}, {1, 1}, {1, 7133}, {7133, 3}, {9, 64}, {5, 1021}};
  for (const Rows s : shapes) {
    const std::string shape = "rows=" + std::to_string(s.rows) + " width=" + std::to_string(s.width);
    const std::int64_t n = s.rows * s.width;
    if (kernel == "rmsnorm") {
      cases.push_back(make_case<T, T, k::RmsNormParams>(
          kernel, shape, {drawn<T>(random, n), drawn<T>(random, s.width, 0.5f, 1.5f), output<T>(n)},
          [s](const std::vector<void*>& a) { return k::RmsNormParams{a[0], a[1], a[2], s.rows, s.width, 1e-5f}; },
          {&k::rmsnorm_reference<T, double>, &k::rmsnorm_reference<T, float>}, Exactness::rounded));
    } else if (kernel == "softmax") {
      cases.push_back(make_case<T, T, k::SoftmaxParams>(
          kernel, shape, {drawn<T>(random, n, -8, 8), output<T>(n)},
          [s](const std::vector<void*>& a) {
            return k::SoftmaxParams{a[0], a[1], s.rows, s.width};
          },
          {&k::softmax_reference<T, double>, &k::softmax_reference<T, float>}, Exactness::rounded));
    } else if (kernel == "argmax") {
      cases.push_back(make_case<T, std::int32_t, k::ArgmaxParams>(
          kernel, shape, {drawn_with_ties<T>(random, n), output<std::int32_t>(s.rows)},
          [s](const std::vector<void*>& a) {
            return k::ArgmaxParams{a[0], static_cast<std::int32_t*>(a[1]), s.rows, s.width};
          },
          {&k::argmax_reference<T, double>, &k::argmax_reference<T, float>}, Exactness::exact));
    }
  }
  return cases;
}

template std::vector<Case> row_cases<float>(const std::string&, Depth, Random&);
template std::vector<Case> row_cases<k::f16>(const std::string&, Depth, Random&);
template std::vector<Case> row_cases<k::bf16>(const std::string&, Depth, Random&);

}  // namespace assay::check
