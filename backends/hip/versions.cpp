// SPDX-License-Identifier: Apache-2.0
// What HIP says differently from version to version.
#include "backends/hip/versions.hpp"

namespace assay::gpu::hip {

std::string uuid(int ordinal) {
  hipDevice_t device{};
  hipUUID bytes{};
  if (hipDeviceGet(&device, ordinal) != hipSuccess || hipDeviceGetUuid(&bytes, device) != hipSuccess) return {};
  std::string digits;
  for (const char letter : bytes.bytes) {
    const bool is_hex = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
    if (!is_hex) break;
    digits += letter;
  }
  return digits.size() == sizeof(bytes.bytes) ? "amd:" + digits : std::string{};
}

std::string arch_name(const hipDeviceProp_t& properties) {
#if ASSAY_HIP_IS_NVIDIA
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#else
  return properties.gcnArchName;
#endif
}

hipError_t vmm_attribute(int* out, int ordinal) {
#if HIP_VERSION >= 50300000
  return hipDeviceGetAttribute(out, hipDeviceAttributeVirtualMemoryManagementSupported, ordinal);
#else
  static_cast<void>(ordinal);
  *out = 1;
  return hipSuccess;
#endif
}

}  // namespace assay::gpu::hip
