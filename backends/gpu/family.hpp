// SPDX-License-Identifier: Apache-2.0
// Architecture names taken apart: base, features, family, and how the code is executed.
#pragma once

#include <string>
#include <string_view>

namespace assay::gpu {

struct Architecture {
  std::string base;      // "sm_90", "gfx90a"
  std::string features;  // "sramecc+:xnack-", empty when there are none
};

// "gfx90a:sramecc+:xnack-" -> {"gfx90a", "sramecc+:xnack-"}
Architecture split_architecture(std::string_view name);

// "hopper", "cdna2"; empty for an architecture that the table does not list. Families as named by the vendors'
// architecture documents (NVIDIA: CUDA programming guide, compute capabilities; AMD: LLVM AMDGPU usage, processors).
std::string_view family_of(std::string_view base);

// "on", "off" or "unsupported" for a feature of such a list: ("sramecc+:xnack-", "xnack") -> "off".
std::string_view feature_state(std::string_view features, std::string_view feature);

// gfx_target_version of the kernel driver's topology, e.g. 90010 -> "gfx90a", 110000 -> "gfx1100"; empty for 0.
std::string gfx_name(long target_version);

// "native", "emulated" (a translation layer that names itself in the device's name) or "override" (the runtime was told
// to take the device for another architecture, HSA_OVERRIDE_GFX_VERSION and its per-node forms).
std::string_view execution_kind(std::string_view device_name, bool architecture_override);

// Whether `environment` (NAME=VALUE strings, null at the end) holds an architecture override. An empty value counts:
// some runtimes took it for gfx000.
bool has_architecture_override(const char* const* environment);

}  // namespace assay::gpu
