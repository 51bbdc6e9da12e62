// SPDX-License-Identifier: Apache-2.0
// AMD's management libraries, loaded at run time.
#include "backends/hip/amd_smi.hpp"

namespace assay::gpu::hip {

namespace {
constexpr std::uint64_t amdsmi_init_amd_gpus = 2;  // AMDSMI_INIT_AMD_GPUS
}

AmdSmi::AmdSmi(const LibraryLoader& load, const std::optional<PciAddress>& address) {
  if (!address) {
    source_ = "the board's PCI address is not known";
    return;
  }
  open_amd_smi(load, *address);
  if (handle_ == nullptr) open_rocm_smi(load, *address);
}

// The device is found by its address: function in 3 bits, device in 5, bus in 8, domain above (amdsmi_bdf_t).
void AmdSmi::open_amd_smi(const LibraryLoader& load, const PciAddress& address) {
  lookup_ = load("libamd_smi.so");
  if (!lookup_) return;
  const std::uint64_t bdf = (static_cast<std::uint64_t>(address.domain) << 16U) | (address.bus << 8U) |
                            (address.device << 3U) | address.function;
  if (call("amdsmi_init", amdsmi_init_amd_gpus) != 0 ||
      call("amdsmi_get_processor_handle_from_bdf", bdf, &handle_) != 0) {
    handle_ = nullptr;
    lookup_ = {};
    source_ = "amd_smi does not know the board";
    return;
  }
  source_ = "amd_smi";
}

// Here the domain is in the upper half (rsmi_dev_pci_id_get), and bits 28 to 31 may hold a partition.
void AmdSmi::open_rocm_smi(const LibraryLoader& load, const PciAddress& address) {
  lookup_ = load("librocm_smi64.so");
  if (!lookup_) return;
  std::uint32_t count = 0;
  if (call("rsmi_init", std::uint64_t{0}) != 0 || call("rsmi_num_monitor_devices", &count) != 0) {
    source_ = "rocm_smi does not initialise";
    return;
  }
  const std::uint64_t wanted = (static_cast<std::uint64_t>(address.domain) << 32U) | (address.bus << 8U) |
                               (address.device << 3U) | address.function;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t bdf = 0;
    if (call("rsmi_dev_pci_id_get", i, &bdf) != 0 || (bdf & ~std::uint64_t{0xF0000000}) != wanted) continue;
    index_ = i;
    source_ = "rocm_smi";
    return;
  }
  source_ = "rocm_smi does not list the board";
}

std::optional<std::uint64_t> AmdSmi::ecc_blocks() const {
  std::uint64_t blocks = 0;
  if (handle_ != nullptr && call("amdsmi_get_gpu_ecc_enabled", handle_, &blocks) == 0) return blocks;
  if (index_ && call("rsmi_dev_ecc_enabled_get", *index_, &blocks) == 0) return blocks;
  return std::nullopt;
}

std::string AmdSmi::virtualization() const {
  int mode = 0;
  if (handle_ == nullptr || call("amdsmi_get_gpu_virtualization_mode", handle_, &mode) != 0) return {};
  switch (mode) {  // amdsmi_virtualization_mode_t
    case 1:
      return "none";
    case 2:
    case 3:
      return "vgpu";
    case 4:
      return "passthrough";
    default:
      return {};
  }
}

}  // namespace assay::gpu::hip
