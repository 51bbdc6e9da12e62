// SPDX-License-Identifier: Apache-2.0
// Driver: the few entry points of CUDA's driver interface that the runtime lacks, fetched at run time. Linking libcuda
// would make the module unloadable where no driver is installed.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace assay::gpu::cuda {

// Every call answers cudaErrorNotSupported while the driver, or the entry point, is missing. Driver and runtime number
// their errors alike, so a CUresult is handed on as a cudaError_t.
class Driver {
 public:
  Driver();
  cudaError_t vmm_attribute(int* out, int ordinal) const;
  cudaError_t granularity(std::size_t* out, bool recommended, int ordinal) const;
  cudaError_t reserve(void** out, std::size_t bytes, std::size_t alignment) const;
  cudaError_t unreserve(void* address, std::size_t bytes) const;
  cudaError_t create(CUmemGenericAllocationHandle* out, std::size_t bytes, int ordinal) const;
  cudaError_t release(CUmemGenericAllocationHandle physical) const;
  cudaError_t map(void* address, std::size_t bytes, CUmemGenericAllocationHandle physical) const;
  cudaError_t set_access(void* address, std::size_t bytes, int ordinal) const;
  cudaError_t unmap(void* address, std::size_t bytes) const;
  // "lazy", "eager", or empty when the driver cannot tell.
  [[nodiscard]] std::string module_loading() const;
  // Any function of the driver, to find its file; null without a driver.
  [[nodiscard]] const void* symbol() const { return reinterpret_cast<const void*>(get_attribute_); }

 private:
  decltype(&cuDeviceGetAttribute) get_attribute_ = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity_ = nullptr;
  decltype(&cuMemAddressReserve) reserve_ = nullptr;
  decltype(&cuMemAddressFree) unreserve_ = nullptr;
  decltype(&cuMemCreate) create_ = nullptr;
  decltype(&cuMemRelease) release_ = nullptr;
  decltype(&cuMemMap) map_ = nullptr;
  decltype(&cuMemSetAccess) set_access_ = nullptr;
  decltype(&cuMemUnmap) unmap_ = nullptr;
  decltype(&cuModuleGetLoadingMode) loading_mode_ = nullptr;
};

// Fetched on first use.
const Driver& driver();

// "nvidia:GPU-3f2b1c9d-....": the form NVML and nvidia-smi print, behind the scheme.
std::string format_uuid(const char (&bytes)[16]);

}  // namespace assay::gpu::cuda
