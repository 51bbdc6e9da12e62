// SPDX-License-Identifier: Apache-2.0
// Chooses among the kernel builds by asking the CPU.
#include "backends/host/exec/isa.hpp"

#include <algorithm>
#include <array>

#include "backends/host/kernel_table.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Each build of kernels/table.cpp defines its table in the namespace that its ASSAY_ISA names.
namespace assay::kernels {
#if defined(__x86_64__)
inline namespace v3 {
KernelTable kernel_table();
}
#endif
inline namespace baseline {
KernelTable kernel_table();
}
}  // namespace assay::kernels

namespace assay::host {
namespace {

std::span<const kernels::KernelEntry> view(const kernels::KernelTable& table) {
  return {table.entries, table.count};
}

#if defined(__x86_64__)
constexpr const char* kBaseline = "x86-64";

// The features of x86-64-v3 beyond the baseline's that the x86-64 psABI lists, and the operating system's support for
// the wide registers. By cpuid: clang 14's __builtin_cpu_supports does not know all of them.
bool has_v3() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kLeaf1 = bit_SSE3 | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_MOVBE |
                              bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
  if ((c & kLeaf1) != kLeaf1) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6u) != 6u) return false;  // XMM and YMM state
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kLeaf7 = bit_BMI | bit_AVX2 | bit_BMI2;
  if ((b & kLeaf7) != kLeaf7) return false;
  constexpr unsigned kLzcnt = 1u << 5;
  return __get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (c & kLzcnt) != 0;
}
#else
constexpr const char* kBaseline = "baseline";
#endif

}  // namespace

std::span<const KernelBuild> kernel_builds() {
  static const std::array builds = {
#if defined(__x86_64__)
    KernelBuild{"x86-64-v3", ASSAY_KERNEL_FP_FLAGS, view(kernels::v3::kernel_table())},
#endif
    KernelBuild{kBaseline, ASSAY_KERNEL_FP_FLAGS, view(kernels::baseline::kernel_table())},
  };
  return builds;
}

bool cpu_runs([[maybe_unused]] const KernelBuild& build) {
#if defined(__x86_64__)
  static const bool v3 = has_v3();
  return v3 || &build != &kernel_builds().front();
#else
  return true;
#endif
}

const KernelBuild& kernel_build() {
  const auto builds = kernel_builds();
  return *std::find_if(builds.begin(), builds.end(), cpu_runs);
}

std::span<const kernels::KernelEntry> kernel_table() {
  return kernel_build().table;
}

}  // namespace assay::host
