// SPDX-License-Identifier: Apache-2.0
// Entry points of CUDA's driver interface, fetched at run time.
#include "backends/cuda/driver.hpp"

namespace assay::gpu::cuda {

namespace {

// Each symbol by the version that introduced the signature used here.
template <class Function>
void fetch(const char* name, unsigned version, Function& out) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
  static_cast<void>(version);
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());  // a missing entry point is an answer here, not an error of the program
    return;
  }
  out = reinterpret_cast<Function>(found);
}

// Calls `function`, or says that it is not there.
template <class Function, class... Arguments>
cudaError_t call(Function function, Arguments... arguments) {
  if (function == nullptr) return cudaErrorNotSupported;
  return static_cast<cudaError_t>(function(arguments...));
}

CUdeviceptr address_of(void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

CUmemAllocationProp allocation_properties(int ordinal) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = ordinal;
  return properties;
}

}  // namespace

Driver::Driver() {
  fetch("cuDeviceGetAttribute", 2000, get_attribute_);
  fetch("cuMemGetAllocationGranularity", 10020, granularity_);
  fetch("cuMemAddressReserve", 10020, reserve_);
  fetch("cuMemAddressFree", 10020, unreserve_);
  fetch("cuMemCreate", 10020, create_);
  fetch("cuMemRelease", 10020, release_);
  fetch("cuMemMap", 10020, map_);
  fetch("cuMemSetAccess", 10020, set_access_);
  fetch("cuMemUnmap", 10020, unmap_);
  fetch("cuModuleGetLoadingMode", 11070, loading_mode_);
}

// The runtime's ordinal is the driver's: CUdevice is an index, and both order devices by CUDA_VISIBLE_DEVICES.
cudaError_t Driver::vmm_attribute(int* out, int ordinal) const {
  return call(get_attribute_, out, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, ordinal);
}

cudaError_t Driver::granularity(std::size_t* out, bool recommended, int ordinal) const {
  const CUmemAllocationProp properties = allocation_properties(ordinal);
  return call(granularity_, out, &properties,
              recommended ? CU_MEM_ALLOC_GRANULARITY_RECOMMENDED : CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

cudaError_t Driver::reserve(void** out, std::size_t bytes, std::size_t alignment) const {
  CUdeviceptr address = 0;
  const cudaError_t status = call(reserve_, &address, bytes, alignment, CUdeviceptr{0}, 0ULL);
  if (status == cudaSuccess) *out = reinterpret_cast<void*>(address);
  return status;
}

cudaError_t Driver::unreserve(void* address, std::size_t bytes) const {
  return call(unreserve_, address_of(address), bytes);
}

cudaError_t Driver::create(CUmemGenericAllocationHandle* out, std::size_t bytes, int ordinal) const {
  const CUmemAllocationProp properties = allocation_properties(ordinal);
  return call(create_, out, bytes, &properties, 0ULL);
}

cudaError_t Driver::release(CUmemGenericAllocationHandle physical) const {
  return call(release_, physical);
}

cudaError_t Driver::map(void* address, std::size_t bytes, CUmemGenericAllocationHandle physical) const {
  return call(map_, address_of(address), bytes, std::size_t{0}, physical, 0ULL);
}

cudaError_t Driver::set_access(void* address, std::size_t bytes, int ordinal) const {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = ordinal;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return call(set_access_, address_of(address), bytes, &access, std::size_t{1});
}

cudaError_t Driver::unmap(void* address, std::size_t bytes) const {
  return call(unmap_, address_of(address), bytes);
}

std::string Driver::module_loading() const {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  if (call(loading_mode_, &mode) != cudaSuccess) return {};
  return mode == CU_MODULE_LAZY_LOADING ? "lazy" : "eager";
}

const Driver& driver() {
  static const Driver instance;
  return instance;
}

std::string format_uuid(const char (&bytes)[16]) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "nvidia:GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace assay::gpu::cuda
