// SPDX-License-Identifier: Apache-2.0
// AmdSmi: AMD's management libraries, loaded at run time: amd_smi, or its predecessor rocm_smi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/gpu/library.hpp"
#include "backends/hip/amd_topology.hpp"

namespace assay::gpu::hip {

class AmdSmi {
 public:
  AmdSmi(const LibraryLoader& load, const std::optional<PciAddress>& address);

  // A mask of the blocks with ECC on; nothing when no library tells.
  [[nodiscard]] std::optional<std::uint64_t> ecc_blocks() const;
  // "none", "passthrough" or "vgpu"; empty when no library tells.
  [[nodiscard]] std::string virtualization() const;
  // The library in use, or why there is none.
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  void open_amd_smi(const LibraryLoader& load, const PciAddress& address);
  void open_rocm_smi(const LibraryLoader& load, const PciAddress& address);

  template <class... Arguments>
  [[nodiscard]] int call(const char* name, Arguments... arguments) const {
    void* symbol = lookup_ ? lookup_(name) : nullptr;
    if (symbol == nullptr) return -1;
    return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }

  SymbolLookup lookup_;
  std::string source_ = "neither libamd_smi.so nor librocm_smi64.so is installed";
  void* handle_ = nullptr;              // amd_smi's
  std::optional<std::uint32_t> index_;  // rocm_smi's
};

}  // namespace assay::gpu::hip
