// SPDX-License-Identifier: Apache-2.0
// Cases of gemm and of attention, prefill and decode.
#include <cmath>

#include "kernels/attention/reference.hpp"
#include "kernels/gemm/reference.hpp"
#include "suite/check/cases.hpp"
#include "suite/check/make_case.hpp"

namespace assay::check {

namespace k = kernels;

namespace {

template <class T>
Case gemm_case(std::int64_t m, std::int64_t n, std::int64_t depth, bool bias, bool relu, Random& random) {
  return make_case<T, T, k::GemmParams>(
      "gemm",
      "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(depth) + (bias ? " bias" : "") +
          (relu ? " relu" : ""),
      {drawn<T>(random, m * depth), drawn<T>(random, n * depth), drawn<T>(random, bias ? n : 0), output<T>(m * n)},
      [=](const std::vector<void*>& a) {
        return k::GemmParams{a[0], a[1], bias ? a[2] : nullptr, a[3], m, n, depth, relu ? k::kGemmRelu : k::kGemmNone};
      },
      {&k::gemm_reference<T, double>, &k::gemm_reference<T, float>}, Exactness::rounded);
}

k::AttentionParams attention_shape(std::int64_t batch, std::int64_t q_tokens, std::int64_t q_heads,
                                   std::int64_t kv_heads, std::int64_t head_dim, std::int64_t capacity,
                                   std::int64_t start, std::int64_t window) {
  return {nullptr,
          nullptr,
          nullptr,
          nullptr,
          batch,
          q_tokens,
          q_heads,
          kv_heads,
          head_dim,
          capacity,
          start,
          window,
          1.0f / std::sqrt(static_cast<float>(head_dim))};
}

template <class T>
Case attention_case(const std::string& kernel, const k::AttentionParams& shape, Random& random) {
  const std::int64_t queries = shape.batch * shape.q_tokens * shape.q_heads * shape.head_dim;
  const std::int64_t cached = shape.batch * shape.capacity * shape.kv_heads * shape.head_dim;
  return make_case<T, T, k::AttentionParams>(
      kernel,
      "batch=" + std::to_string(shape.batch) + " q_tokens=" + std::to_string(shape.q_tokens) +
          " q_heads=" + std::to_string(shape.q_heads) + " kv_heads=" + std::to_string(shape.kv_heads) +
          " head_dim=" + std::to_string(shape.head_dim) + " capacity=" + std::to_string(shape.capacity) +
          " start=" + std::to_string(shape.start) + " window=" + std::to_string(shape.window),
      {drawn<T>(random, queries), drawn<T>(random, cached), drawn<T>(random, cached), output<T>(queries)},
      [shape](const std::vector<void*>& a) {
        k::AttentionParams p = shape;
        p.q = a[0], p.cache_k = a[1], p.cache_v = a[2], p.y = a[3];
        return p;
      },
      {&k::attention_reference<T, double>, &k::attention_reference<T, float>}, Exactness::rounded);
}

}  // namespace

template <class T>
std::vector<Case> gemm_cases(Depth depth, Random& random) {
  std::vector<Case> cases;
  cases.push_back(gemm_case<T>(3, 5, 37, true, true, random));      // few rows
  cases.push_back(gemm_case<T>(13, 67, 21, false, false, random));  // tiles, none of them full
  if (depth == Depth::full) {
    cases.push_back(gemm_case<T>(0, 5, 3, false, false, random));
    cases.push_back(gemm_case<T>(4, 0, 3, false, false, random));
    cases.push_back(gemm_case<T>(2, 3, 0, true, false, random));  // an empty sum
    cases.push_back(gemm_case<T>(1, 1, 1, false, false, random));
    cases.push_back(gemm_case<T>(1, 35, 7133, false, false, random));
    cases.push_back(gemm_case<T>(5, 3, 7133, true, false, random));
    cases.push_back(gemm_case<T>(65, 129, 32, true, true, random));
    cases.push_back(gemm_case<T>(7133, 3, 5, false, true, random));
  }
  return cases;
}

template <class T>
std::vector<Case> attention_cases(const std::string& kernel, Depth depth, Random& random) {
  std::vector<k::AttentionParams> shapes;
  if (kernel == "attention_decode") {
    shapes = {attention_shape(2, 1, 6, 3, 10, 90, 76, 0)};
    if (depth == Depth::full) {
      shapes.push_back(attention_shape(0, 1, 2, 1, 8, 4, 0, 0));
      shapes.push_back(attention_shape(1, 1, 1, 1, 1, 1, 0, 0));
      shapes.push_back(attention_shape(1, 1, 9, 3, 64, 300, 290, 0));
      shapes.push_back(attention_shape(1, 1, 3, 1, 5, 7133, 7132, 0));
      shapes.push_back(
          attention_shape(1, 1, 40, 2, 16, 13, 29, 13));  // a ring that has gone round, heads over two tiles
      shapes.push_back(attention_shape(1, 1, 2, 2, 257, 80, 70, 0));  // a head of more than half the shared memory
    }
  } else {
    shapes = {attention_shape(2, 7, 6, 3, 10, 60, 40, 0), attention_shape(1, 9, 3, 1, 12, 64, 5, 4)};
    if (depth == Depth::full) {
      shapes.push_back(attention_shape(0, 3, 2, 1, 8, 4, 0, 0));
      shapes.push_back(attention_shape(2, 0, 2, 1, 8, 4, 0, 0));
      shapes.push_back(attention_shape(1, 1, 1, 1, 1, 1, 0, 0));
      shapes.push_back(attention_shape(1, 37, 9, 3, 64, 37, 0, 0));
      shapes.push_back(attention_shape(1, 33, 5, 5, 7, 45, 70, 12));  // window and ring
      shapes.push_back(attention_shape(1, 19, 4, 2, 160, 40, 20, 0));
    }
  }
  std::vector<Case> cases;
  for (const k::AttentionParams& shape : shapes) cases.push_back(attention_case<T>(kernel, shape, random));
  return cases;
}

template std::vector<Case> gemm_cases<float>(Depth, Random&);
template std::vector<Case> gemm_cases<k::f16>(Depth, Random&);
template std::vector<Case> gemm_cases<k::bf16>(Depth, Random&);
template std::vector<Case> attention_cases<float>(const std::string&, Depth, Random&);
template std::vector<Case> attention_cases<k::f16>(const std::string&, Depth, Random&);
template std::vector<Case> attention_cases<k::bf16>(const std::string&, Depth, Random&);

}  // namespace assay::check
