// SPDX-License-Identifier: Apache-2.0
// What HIP says differently from version to version: a board's unique id, its architecture, the attribute of VMM.
#pragma once

#include "backends/hip/target.hpp"  // first: decides the platform before a HIP header is read

#include <hip/hip_runtime_api.h>

#include <string>

namespace assay::gpu::hip {

// "amd:<16 hex digits>": HIP hands out the digits of the kernel driver's unique_id as letters, not as binary, and "XX"
// where the board has none. Empty then, and on failure.
std::string uuid(int ordinal);

// "gfx90a:sramecc+:xnack-"; "sm_80" when HIP was built over NVIDIA.
std::string arch_name(const hipDeviceProp_t& properties);

// Whether the runtime claims virtual memory management; the attribute exists since HIP 5.3, before that it is 1 and the
// probe decides.
hipError_t vmm_attribute(int* out, int ordinal);

}  // namespace assay::gpu::hip
