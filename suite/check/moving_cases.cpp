// SPDX-License-Identifier: Apache-2.0
// Cases of embedding and kv_append.
#include "kernels/embedding/reference.hpp"
#include "kernels/kv_append/reference.hpp"
#include "suite/check/cases.hpp"
#include "suite/check/make_case.hpp"

namespace assay::check {

namespace k = kernels;

namespace {

template <class T>
Case embedding_case(std::int64_t tokens, std::int64_t width, std::int64_t vocabulary, Random& random) {
  return make_case<T, T, k::EmbeddingParams>(
      "embedding",
      "tokens=" + std::to_string(tokens) + " width=" + std::to_string(width) +
          " vocabulary=" + std::to_string(vocabulary),
      {drawn<T>(random, vocabulary * width), drawn_indices(random, tokens, vocabulary), output<T>(tokens * width)},
      [=](const std::vector<void*>& a) {
        return k::EmbeddingParams{a[0], static_cast<const std::int32_t*>(a[1]), a[2], tokens, width, vocabulary};
      },
      {&k::embedding_reference<T, double>, &k::embedding_reference<T, float>}, Exactness::exact);
}

template <class T>
Case kv_append_case(const k::KvAppendParams& shape, Random& random) {
  const std::int64_t width = shape.kv_heads * shape.head_dim;
  // The caches hold values already: what is not appended to must stay as it is.
  Buffer cache_k = drawn<T>(random, shape.batch * shape.capacity * width);
  Buffer cache_v = drawn<T>(random, shape.batch * shape.capacity * width);
  cache_k.written = true;
  cache_v.written = true;
  const std::int64_t fresh = shape.batch * shape.new_tokens * width;
  return make_case<T, T, k::KvAppendParams>(
      "kv_append",
      "batch=" + std::to_string(shape.batch) + " new_tokens=" + std::to_string(shape.new_tokens) +
          " kv_heads=" + std::to_string(shape.kv_heads) + " head_dim=" + std::to_string(shape.head_dim) +
          " capacity=" + std::to_string(shape.capacity) + " start=" + std::to_string(shape.start),
      {drawn<T>(random, fresh), drawn<T>(random, fresh), std::move(cache_k), std::move(cache_v)},
      [shape](const std::vector<void*>& a) {
        k::KvAppendParams p = shape;
        p.k = a[0], p.v = a[1], p.cache_k = a[2], p.cache_v = a[3];
        return p;
      },
      {&k::kv_append_reference<T, double>, &k::kv_append_reference<T, float>}, Exactness::exact);
}

k::KvAppendParams kv_shape(std::int64_t batch, std::int64_t new_tokens, std::int64_t kv_heads, std::int64_t head_dim,
                           std::int64_t capacity, std::int64_t start) {
  return {nullptr, nullptr, nullptr, nullptr, batch, new_tokens, kv_heads, head_dim, capacity, start};
}

}  // namespace

template <class T>
std::vector<Case> moving_cases(const std::string& kernel, Depth depth, Random& random) {
  std::vector<Case> cases;
  if (kernel == "embedding") {
    cases.push_back(embedding_case<T>(5, 13, 7, random));
    if (depth == Depth::full) {
      cases.push_back(embedding_case<T>(0, 8, 3, random));
      cases.push_back(embedding_case<T>(1, 1, 1, random));
      cases.push_back(embedding_case<T>(7133, 3, 101, random));
      cases.push_back(embedding_case<T>(3, 576, 11, random));
    }
  } else if (kernel == "kv_append") {
    cases.push_back(kv_append_case<T>(kv_shape(2, 3, 3, 5, 7, 5), random));  // wraps around
    if (depth == Depth::full) {
      cases.push_back(kv_append_case<T>(kv_shape(0, 3, 3, 5, 7, 0), random));
      cases.push_back(kv_append_case<T>(kv_shape(1, 1, 1, 1, 1, 9), random));
      cases.push_back(kv_append_case<T>(kv_shape(1, 7133, 1, 3, 7200, 11), random));
      cases.push_back(kv_append_case<T>(kv_shape(3, 1, 5, 64, 9, 4), random));
    }
  }
  return cases;
}

template std::vector<Case> moving_cases<float>(const std::string&, Depth, Random&);
template std::vector<Case> moving_cases<k::f16>(const std::string&, Depth, Random&);
template std::vector<Case> moving_cases<k::bf16>(const std::string&, Depth, Random&);

}  // namespace assay::check
