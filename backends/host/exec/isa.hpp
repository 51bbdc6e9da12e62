// SPDX-License-Identifier: Apache-2.0
// Which build of the kernels this CPU runs: the CPU module carries the same source for several instruction sets.
#pragma once

#include <span>
#include <string_view>

#include "kernels/common/kernel.hpp"

namespace assay::host {

struct KernelBuild {
  const char* isa;       // "x86-64-v3", "x86-64", or "baseline" on other architectures
  const char* fp_flags;  // the compiler flags that move numbers, for the identity
  std::span<const kernels::KernelEntry> table;
};

// Every build in this module, the most capable first.
std::span<const KernelBuild> kernel_builds();
// Whether this CPU can execute a build.
bool cpu_runs(const KernelBuild& build);
// The first build this CPU can execute. The same answer for the life of the process.
const KernelBuild& kernel_build();

}  // namespace assay::host
