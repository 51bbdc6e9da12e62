// SPDX-License-Identifier: Apache-2.0
// Runs kernel cases straight on the CPU executor, without the device layer.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "backends/host/exec/executor.hpp"
#include "backends/host/exec/isa.hpp"
#include "suite/check/check.hpp"

namespace assay::check {

inline const kernels::KernelEntry* find_entry(const host::KernelBuild& build, const Case& the_case) {
  for (const kernels::KernelEntry& entry : build.table) {
    if (entry.name == the_case.kernel && entry.dtype == the_case.dtype) return &entry;
  }
  return nullptr;
}

// A launch on `executor` with the kernels of `build`; the arrays are the images themselves.
inline Launch executor_launch(const host::KernelBuild& build, const host::Executor& executor) {
  return [&build, executor](const Case& the_case, std::vector<Bytes>& images) -> Result<void> {
    const kernels::KernelEntry* entry = find_entry(build, the_case);
    if (entry == nullptr) return Error{ErrorCode::unsupported, "no kernel " + the_case.kernel};
    std::vector<void*> arrays;
    for (Bytes& image : images) arrays.push_back(image.data() + kGuardBytes);
    const Bytes params = the_case.params(arrays);
    if (params.size() != entry->params_bytes) return Error{ErrorCode::internal, "parameters of another size"};
    std::string failure;
    if (!executor.run(*entry, params.data(), &failure)) return Error{ErrorCode::fault, failure};
    return {};
  };
}

}  // namespace assay::check
