// SPDX-License-Identifier: Apache-2.0
// The kernel table: every kernel of a module, in a fixed order. kernels/table.cpp is compiled into each module.
#pragma once

#include "kernels/common/kernel.hpp"

#ifndef ASSAY_ISA
#define ASSAY_ISA generic
#endif

namespace assay::kernels {
inline namespace ASSAY_ISA {

// A GPU module compiles table.cpp once as CUDA or HIP and calls this. The CPU module compiles it once an instruction
// set, each with its own ASSAY_ISA, and asks backends/host/exec/isa.hpp.
KernelTable kernel_table();

}  // namespace ASSAY_ISA
}  // namespace assay::kernels
