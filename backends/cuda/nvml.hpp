// SPDX-License-Identifier: Apache-2.0
// Nvml: NVIDIA's management library, loaded at run time, each function looked up by name when it is called.
#pragma once

#include <cstdint>
#include <string>

#include "backends/gpu/library.hpp"

namespace assay::gpu::cuda {

using NvmlDevice = void*;

// Layouts of the library's own structures, as far as they are read here (NVML 12's header).
struct NvmlMemoryV2 {
  unsigned version = static_cast<unsigned>(40U | (2U << 24U));
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(NvmlMemoryV2) == 40);

struct NvmlProcess {
  unsigned pid = 0;
  std::uint64_t used_bytes = 0;  // all ones: not known
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlUtilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct NvmlConfidential {
  unsigned environment = 0;
  unsigned feature = 0;
  unsigned tools = 0;
};

// Of a MIG slice (nvmlDeviceGetAttributes_v2).
struct NvmlAttributes {
  unsigned multiprocessors = 0;
  unsigned copy_engines = 0;
  unsigned decoders = 0;
  unsigned encoders = 0;
  unsigned jpegs = 0;
  unsigned optical_flows = 0;
  unsigned gpu_slices = 0;
  unsigned compute_slices = 0;
  std::uint64_t memory_mib = 0;
};

inline constexpr int nvml_missing = -1;  // ours: the library or the function is not there
inline constexpr int nvml_ok = 0;
inline constexpr int nvml_not_supported = 3;
inline constexpr int nvml_insufficient_size = 7;

class Nvml {
 public:
  // Loads and initialises; without the library every call answers nvml_missing.
  explicit Nvml(const LibraryLoader& load);

  // Calls a function by name. The arguments' types must be exactly those of its prototype: they make the call.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    void* symbol = lookup_ ? lookup_(name) : nullptr;
    if (symbol == nullptr) return nvml_missing;
    return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }

  // Why a call gave nothing.
  [[nodiscard]] std::string reason(const char* name, int status) const;

 private:
  SymbolLookup lookup_;
  std::string failure_;  // why there is no library
};

}  // namespace assay::gpu::cuda
