// SPDX-License-Identifier: Apache-2.0
// Stands in for the compiled kernels where they are not part of the build: no kernel, and an executor that runs none.
#include "backends/host/kernel_table.hpp"

#include "backends/host/exec/executor.hpp"

namespace assay::host {

std::span<const kernels::KernelEntry> kernel_table() {
  return {};
}

kernels::Target Executor::target() const {
  return {options_.wave, options_.wave, 1};
}

bool Executor::run(const kernels::KernelEntry&, const void*, std::string* failure) const {
  *failure = "this build of the host module has no kernels";
  return false;
}

}  // namespace assay::host
