// SPDX-License-Identifier: Apache-2.0
// Reads what the device compilers said about each kernel: registers, spills, scratch.
#pragma once

#include <string>
#include <vector>

namespace assay::test {

struct KernelFigures {
  std::string name;    // mangled
  std::string target;  // "sm_80"; empty where the compiler does not name it (hipcc)
  long registers = -1;
  long spill_bytes = -1;    // NVIDIA: stores + loads in bytes; AMD: spilled SGPRs + VGPRs
  long scratch_bytes = -1;  // NVIDIA: stack frame; AMD: ScratchSize, a lane
};

// From `ptxas -v`.
std::vector<KernelFigures> parse_ptxas(const std::string& log);
// From `-Rpass-analysis=kernel-resource-usage`.
std::vector<KernelFigures> parse_resource_remarks(const std::string& log);

// Kernels that spill, use scratch, or whose figures are incomplete; one sentence each.
std::vector<std::string> complaints(const std::vector<KernelFigures>& kernels);

}  // namespace assay::test
