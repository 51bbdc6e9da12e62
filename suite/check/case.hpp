// SPDX-License-Identifier: Apache-2.0
// One kernel check: inputs, how to call the kernel, and how to judge what it left in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::check {

using Bytes = std::vector<std::byte>;

// Memory of one array of the kernel.
struct Buffer {
  Bytes before;          // what it holds before the kernel runs; an output that is not an input is filled with kPoison
  bool written = false;  // whether the kernel may change it
};

// A byte that no kernel writes on purpose: two or four of them are a NaN, four are the index -1.
inline constexpr std::byte kPoison{0xff};

struct Verdict {
  bool correct = false;
  double error = 0;  // largest, as kernels/common/tolerance.hpp measures it; infinite for a NaN or an unwritten element
  double tolerance = 0;  // 0: every element must be exactly right
  std::string message;   // the first wrong element, when not correct
};

struct Case {
  std::string name;  // "rmsnorm/f32/portable rows=7 width=577"
  std::string kernel;
  std::string dtype;
  std::vector<Buffer> buffers;
  // The kernel's parameter struct, with its arrays at `arrays[i]` for buffers[i].
  std::function<Bytes(const std::vector<void*>& arrays)> params;
  // Judges the buffers as they are afterwards. Pure; may be called more than once.
  std::function<Verdict(const std::vector<Bytes>& after)> judge;
  // Judges one run's buffers against another's, by the tolerance of `judge`: `error` is the largest difference of two
  // outputs, in the same units. Pure.
  std::function<Verdict(const std::vector<Bytes>& after, const std::vector<Bytes>& other)> agree;
};

// quick: a few odd shapes a kernel, for every run. full: also one row, thousands of rows, nothing at all.
enum class Depth { quick, full };

// The cases of one kernel and storage type ("f32", "f16", "bf16"), with inputs drawn from `seed`. Empty for a kernel
// that has no check.
std::vector<Case> cases_of(const std::string& kernel, const std::string& dtype, Depth depth, std::uint64_t seed);

}  // namespace assay::check
