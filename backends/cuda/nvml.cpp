// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, loaded at run time.
#include "backends/cuda/nvml.hpp"

namespace assay::gpu::cuda {

Nvml::Nvml(const LibraryLoader& load) : lookup_(load("libnvidia-ml.so.1")) {
  if (!lookup_) {
    failure_ = "libnvidia-ml.so.1 is not installed";
    return;
  }
  const int status = call("nvmlInit_v2");
  if (status == nvml_ok) return;
  failure_ = "NVML does not initialise (error " + std::to_string(status) + ")";
  lookup_ = {};
}

std::string Nvml::reason(const char* name, int status) const {
  if (!lookup_) return failure_;
  if (status == nvml_missing) return std::string("this NVML has no ") + name;
  if (status == nvml_not_supported) return "the board does not support it";
  return std::string(name) + " failed with NVML error " + std::to_string(status);
}

}  // namespace assay::gpu::cuda
