// SPDX-License-Identifier: Apache-2.0
// A pass as data: which buffers come and go, which kernels run on them and in which order. No device is involved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "backends/allocator/statistics.hpp"

namespace assay::measure {

// The kernels a workload may launch; each in the workload's storage dtype, implementation "portable".
enum class Kernel : std::uint8_t {
  embedding,
  rmsnorm,
  gemm,
  rope,
  kv_append,
  attention_prefill,
  attention_decode,
  swiglu,
  residual_add,
  softmax,
  argmax,
};
inline constexpr std::size_t kKernelCount = 11;
inline constexpr std::array<std::string_view, kKernelCount> kKernelNames{
    "embedding",        "rmsnorm", "gemm",         "rope",    "kv_append", "attention_prefill",
    "attention_decode", "swiglu",  "residual_add", "softmax", "argmax"};

// A place that holds one buffer at a time.
using Slot = std::uint32_t;

struct Operand {
  Slot slot = 0;
  std::int64_t offset_bytes = 0;
};

// Puts a new buffer of that many bytes into an empty slot.
struct AllocateStep {
  Slot slot = 0;
  std::int64_t bytes = 0;
  allocator::Category category = allocator::Category::activation;
};

// Empties a slot; work already queued on the stream may still use the buffer.
struct ReleaseStep {
  Slot slot = 0;
};

// Device to device.
struct CopyStep {
  Operand to;
  Operand from;
  std::int64_t bytes = 0;
};

// One launch: the parameter struct with its pointers left null, and where they go.
struct LaunchStep {
  struct Pointer {
    std::size_t at = 0;  // offset in the struct
    Operand operand;
  };
  static constexpr std::size_t kMaxParamsBytes = 128;
  static constexpr std::size_t kMaxPointers = 4;

  Kernel kernel = Kernel::gemm;
  std::uint32_t params_bytes = 0;
  std::uint32_t pointer_count = 0;
  std::array<Pointer, kMaxPointers> pointers;
  std::array<std::byte, kMaxParamsBytes> params;

  template <class Params>
  static LaunchStep make(Kernel kernel, const Params& params, std::initializer_list<Pointer> pointers) {
    static_assert(std::is_trivially_copyable_v<Params> && std::is_standard_layout_v<Params>);
    static_assert(sizeof(Params) <= kMaxParamsBytes);
    LaunchStep step{};
    step.kernel = kernel;
    step.params_bytes = sizeof(Params);
    for (const auto& pointer : pointers) step.pointers.at(step.pointer_count++) = pointer;
    std::memcpy(step.params.data(), &params, sizeof(Params));
    return step;
  }
};

using Step = std::variant<AllocateStep, ReleaseStep, CopyStep, LaunchStep>;
using Pass = std::vector<Step>;

}  // namespace assay::measure
