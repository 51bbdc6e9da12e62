// SPDX-License-Identifier: Apache-2.0
// Builds a case from a kernel's inputs and its reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/reference.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tolerance.hpp"
#include "suite/check/case.hpp"

namespace assay::check {

enum class Exactness { exact, rounded };

// One element of an output as a number: a storage type, or an index.
template <class T>
double element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return value;
  } else {
    return static_cast<double>(kernels::get(&value));
  }
}
// What a number becomes in storage T.
template <class T>
double stored(double value) {
  T rounded;
  kernels::put(&rounded, static_cast<float>(value));
  return static_cast<double>(kernels::get(&rounded));
}

std::string wrong_element(std::size_t buffer, std::size_t index, double result, double expected, bool untouched);

// What outputs are compared with, element by element in their order.
struct Yardstick {
  std::vector<double> expected;
  std::vector<double> scale;
  double tolerance = 0;  // 0: every element must be exactly right
};

// The values of a reference in fp64, with the tolerance that it and the textbook loop in f32 give.
template <class T, class Double, class Float>
Yardstick yardstick(const Double& reference, const Float& naive, Exactness exactness) {
  Yardstick y;
  y.expected.assign(reference.value.begin(), reference.value.end());
  y.scale = reference.scale;
  if (exactness == Exactness::exact) return y;
  double naive_error = 0;
  for (std::size_t i = 0; i < reference.value.size(); ++i) {
    const double rounded = stored<T>(static_cast<double>(naive.value[i]));
    naive_error = std::fmax(naive_error, kernels::scaled_error<T>(rounded, reference.value[i], reference.scale[i]));
  }
  y.tolerance = kernels::tolerance<T>(naive_error, reference.length);
  return y;
}

// Compares the outputs, in order. Out is the type of the outputs, T of the inputs.
template <class T, class Out>
Verdict compare(const std::vector<Buffer>& buffers, const std::vector<Bytes>& after, const Yardstick& y) {
  Verdict verdict;
  verdict.tolerance = y.tolerance;
  std::size_t at = 0;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].written) continue;
    for (std::size_t i = 0; i < after[b].size() / sizeof(Out) && at < y.expected.size(); ++i, ++at) {
      const double result = element<Out>(after[b].data() + i * sizeof(Out));
      const double error = y.tolerance == 0 ? (result == y.expected[at] ? 0 : HUGE_VAL)
                                            : kernels::scaled_error<T>(result, y.expected[at], y.scale[at]);
      if (error > verdict.tolerance && verdict.message.empty()) {
        const Bytes poison(sizeof(Out), kPoison);
        const bool untouched = std::memcmp(after[b].data() + i * sizeof(Out), poison.data(), sizeof(Out)) == 0;
        verdict.message = wrong_element(b, i, result, y.expected[at], untouched);
      }
      verdict.error = std::fmax(verdict.error, error);
    }
  }
  std::size_t written = 0;
  for (std::size_t b = 0; b < buffers.size(); ++b) written += buffers[b].written ? after[b].size() / sizeof(Out) : 0;
  if (written != y.expected.size()) verdict.message = "the reference and the outputs differ in size";
  verdict.correct = verdict.message.empty();
  return verdict;
}

template <class Params>
struct References {
  kernels::Expected<double> (*exact)(const Params&);
  kernels::Expected<float> (*naive)(const Params&);
};

// bind(arrays) returns Params with the arrays in the order of `buffers`.
template <class T, class Out, class Params, class Bind>
Case make_case(const std::string& kernel, const std::string& shape, std::vector<Buffer> buffers, Bind bind,
               References<Params> references, Exactness exactness) {
  Case made;
  made.kernel = kernel;
  made.dtype = kernels::NumberTraits<T>::kName;
  made.name = kernel + "/" + made.dtype + "/portable " + shape;
  made.buffers = std::move(buffers);
  made.params = [bind](const std::vector<void*>& arrays) {
    const Params params = bind(arrays);
    Bytes bytes(sizeof(Params));
    std::memcpy(bytes.data(), &params, sizeof(Params));
    return bytes;
  };
  const auto measure = [buffers = made.buffers, bind, references, exactness] {
    // The references only read; they get the inputs as they were.
    std::vector<Bytes> inputs;
    std::vector<void*> arrays;
    for (const Buffer& buffer : buffers) inputs.push_back(buffer.before);
    for (Bytes& input : inputs) arrays.push_back(input.data());
    const Params params = bind(arrays);
    return yardstick<T>(references.exact(params), references.naive(params), exactness);
  };
  made.judge = [buffers = made.buffers, measure](const std::vector<Bytes>& after) {
    return compare<T, Out>(buffers, after, measure());
  };
  made.agree = [buffers = made.buffers, measure](const std::vector<Bytes>& after, const std::vector<Bytes>& other) {
    Yardstick y = measure();
    y.expected.clear();
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      if (!buffers[b].written) continue;
      for (std::size_t i = 0; i < other[b].size() / sizeof(Out); ++i)
        y.expected.push_back(element<Out>(other[b].data() + i * sizeof(Out)));
    }
    return compare<T, Out>(buffers, after, y);
  };
  return made;
}

}  // namespace assay::check
