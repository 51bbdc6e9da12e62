// SPDX-License-Identifier: Apache-2.0
// Cuda: the CUDA runtime as the shared source sees it. Same names in the same order as backends/hip/runtime.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>

#include "backends/cuda/driver.hpp"
#include "backends/gpu/codes.hpp"
#include "backends/gpu/library.hpp"
#include "backends/gpu/runtime.hpp"

namespace assay::gpu {

struct Cuda {
  using Status = cudaError_t;
  using Stream = cudaStream_t;
  using Event = cudaEvent_t;
  using Pool = cudaMemPool_t;
  using PoolAttribute = cudaMemPoolAttr;
  using Physical = CUmemGenericAllocationHandle;
  using Graph = cudaGraph_t;
  using GraphExec = cudaGraphExec_t;
  using Properties = cudaDeviceProp;
  using FunctionAttributes = cudaFuncAttributes;

  static constexpr const char* backend = "cuda";
  static constexpr const char* platform = "nvidia";
  static constexpr bool is_amd = false;
  static constexpr bool driver_version_is_api = true;
  static constexpr std::size_t vmm_minimum_bytes = std::size_t{2} << 20;
  static constexpr std::uint32_t shared_without_asking = 48U << 10;  // more must be asked for, kernel by kernel
  static constexpr std::uint64_t max_grid_threads = ~std::uint64_t{0};
  static constexpr auto host_to_device = cudaMemcpyHostToDevice;
  static constexpr auto device_to_host = cudaMemcpyDeviceToHost;
  static constexpr auto device_to_device = cudaMemcpyDeviceToDevice;
  static constexpr const char* memory_info_name = "cudaMemGetInfo";
  static constexpr const char* board_used_name = "nvmlDeviceGetMemoryInfo_v2";
  static constexpr const char* board_process_name = "nvmlDeviceGetComputeRunningProcesses";
  static constexpr const char* properties_name = "cudaGetDeviceProperties";
  static constexpr const char* uuid_name = "cudaGetDeviceProperties";
  static constexpr const char* runtime_version_name = "cudaRuntimeGetVersion";
  static constexpr const char* driver_version_name = "cudaDriverGetVersion";
  static constexpr const char* function_attributes_name = "cudaFuncGetAttributes";
  static constexpr const char* granularity_name = "cuMemGetAllocationGranularity";

  static const char* error_name(Status s) { return cudaGetErrorName(s); }
  static const char* error_text(Status s) { return cudaGetErrorString(s); }
  static Status clear_last_error() { return cudaGetLastError(); }
  static Status runtime_version(int* out) { return cudaRuntimeGetVersion(out); }
  static Status driver_version(int* out) { return cudaDriverGetVersion(out); }
  static const void* library_symbol() { return reinterpret_cast<const void*>(&cudaRuntimeGetVersion); }

  static Status device_count(int* out) { return cudaGetDeviceCount(out); }
  static Status set_device(int ordinal) { return cudaSetDevice(ordinal); }
  static Status get_properties(Properties* out, int ordinal) { return cudaGetDeviceProperties(out, ordinal); }
  static std::string arch_name(const Properties& p) {
    return "sm_" + std::to_string(p.major) + std::to_string(p.minor);
  }
  static std::string uuid(const Properties& p, int) { return cuda::format_uuid(p.uuid.bytes); }
  static std::size_t largest_shared(const Properties& p) { return p.sharedMemPerBlockOptin; }
  static Status device_synchronize() { return cudaDeviceSynchronize(); }
  static Status can_access_peer(int* out, int from, int to) { return cudaDeviceCanAccessPeer(out, from, to); }

  static Status memory_info(std::size_t* free_bytes, std::size_t* total) { return cudaMemGetInfo(free_bytes, total); }
  static Status malloc(void** out, std::size_t bytes) { return cudaMalloc(out, bytes); }
  static Status free(void* pointer) { return cudaFree(pointer); }
  static Status host_malloc(void** out, std::size_t bytes) { return cudaHostAlloc(out, bytes, cudaHostAllocDefault); }
  static Status host_free(void* pointer) { return cudaFreeHost(pointer); }

  static Status stream_create(Stream* out, int priority) {
    return cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, priority);
  }
  static Status stream_destroy(Stream stream) { return cudaStreamDestroy(stream); }
  static Status stream_query(Stream stream) { return cudaStreamQuery(stream); }
  static Status stream_synchronize(Stream stream) { return cudaStreamSynchronize(stream); }
  static Status stream_wait_event(Stream stream, Event event) { return cudaStreamWaitEvent(stream, event, 0); }
  static Status event_create(Event* out, bool timing) {
    return cudaEventCreateWithFlags(out, timing ? cudaEventDefault : cudaEventDisableTiming);
  }
  static Status event_destroy(Event event) { return cudaEventDestroy(event); }
  static Status event_record(Event event, Stream stream) { return cudaEventRecord(event, stream); }
  static Status event_query(Event event) { return cudaEventQuery(event); }
  static Status event_synchronize(Event event) { return cudaEventSynchronize(event); }
  static Status event_elapsed(float* out_ms, Event start, Event end) {
    return cudaEventElapsedTime(out_ms, start, end);
  }

  static Status copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Stream stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  }
  static Status fill(void* to, int value, std::size_t bytes, Stream stream) {
    return cudaMemsetAsync(to, value, bytes, stream);
  }
  static Status peer_copy(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          Stream stream) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }
  static Status function_attributes(FunctionAttributes* out, const void* entry) {
    return cudaFuncGetAttributes(out, entry);
  }
  static Status allow_shared(const void* entry, int bytes) {
    return cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  static Status launch(const void* entry, std::uint32_t grid, std::uint32_t block, void** arguments,
                       std::size_t shared_bytes, Stream stream) {
    return cudaLaunchKernel(entry, dim3(grid), dim3(block), arguments, shared_bytes, stream);
  }

  static Status pool_create(Pool* out, int ordinal) {
    const cudaMemPoolProps properties = pool_properties(ordinal);
    return cudaMemPoolCreate(out, &properties);
  }
  static Status pool_destroy(Pool pool) { return cudaMemPoolDestroy(pool); }
  static Status pool_malloc(void** out, std::size_t bytes, Pool pool, Stream stream) {
    return cudaMallocFromPoolAsync(out, bytes, pool, stream);
  }
  static Status pool_free(void* pointer, Stream stream) { return cudaFreeAsync(pointer, stream); }
  static Status pool_trim(Pool pool, std::size_t keep_bytes) { return cudaMemPoolTrimTo(pool, keep_bytes); }
  static Status pool_get(Pool pool, PoolAttribute attribute, void* out) {
    return cudaMemPoolGetAttribute(pool, attribute, out);
  }
  static Status pool_set(Pool pool, PoolAttribute attribute, void* value) {
    return cudaMemPoolSetAttribute(pool, attribute, value);
  }
  static PoolAttribute pool_attribute(std::int32_t attribute) {
    switch (attribute) {
      case ASSAY_POOL_RELEASE_THRESHOLD:
        return cudaMemPoolAttrReleaseThreshold;
      case ASSAY_POOL_RESERVED_CURRENT:
        return cudaMemPoolAttrReservedMemCurrent;
      case ASSAY_POOL_RESERVED_HIGH:
        return cudaMemPoolAttrReservedMemHigh;
      case ASSAY_POOL_USED_CURRENT:
        return cudaMemPoolAttrUsedMemCurrent;
      case ASSAY_POOL_USED_HIGH:
        return cudaMemPoolAttrUsedMemHigh;
      case ASSAY_POOL_REUSE_FOLLOW_EVENT:
        return cudaMemPoolReuseFollowEventDependencies;
      case ASSAY_POOL_REUSE_OPPORTUNISTIC:
        return cudaMemPoolReuseAllowOpportunistic;
      default:
        return cudaMemPoolReuseAllowInternalDependencies;
    }
  }

  static Status vmm_attribute(int* out, int ordinal) { return cuda::driver().vmm_attribute(out, ordinal); }
  static Status vmm_granularity(std::size_t* out, bool recommended, int ordinal) {
    return cuda::driver().granularity(out, recommended, ordinal);
  }
  static Status vmm_reserve(void** out, std::size_t bytes, std::size_t alignment) {
    return cuda::driver().reserve(out, bytes, alignment);
  }
  static Status vmm_unreserve(void* address, std::size_t bytes) { return cuda::driver().unreserve(address, bytes); }
  static Status vmm_create(Physical* out, std::size_t bytes, int ordinal) {
    return cuda::driver().create(out, bytes, ordinal);
  }
  static Status vmm_release(Physical physical) { return cuda::driver().release(physical); }
  static Status vmm_map(void* address, std::size_t bytes, Physical physical) {
    return cuda::driver().map(address, bytes, physical);
  }
  static Status vmm_set_access(void* address, std::size_t bytes, int ordinal) {
    return cuda::driver().set_access(address, bytes, ordinal);
  }
  static Status vmm_unmap(void* address, std::size_t bytes) { return cuda::driver().unmap(address, bytes); }

  static Status capture_begin(Stream stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  }
  static Status capture_end(Stream stream, Graph* out) { return cudaStreamEndCapture(stream, out); }
  static Status graph_destroy(Graph graph) { return cudaGraphDestroy(graph); }
  static Status graph_instantiate(GraphExec* out, Graph graph) { return cudaGraphInstantiateWithFlags(out, graph, 0); }
  static Status graph_launch(GraphExec exec, Stream stream) { return cudaGraphLaunch(exec, stream); }
  static Status graph_exec_destroy(GraphExec exec) { return cudaGraphExecDestroy(exec); }

  static std::span<const kernels::KernelEntry> kernels();
  static const BuildFacts& build_facts();
  static void describe_lower_layer(const FieldWriter& out);
  static std::unique_ptr<Board> open_board(const BoardQuery& query);

 private:
  static cudaMemPoolProps pool_properties(int ordinal) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypeNone;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    return properties;
  }
};

static_assert(GpuRuntime<Cuda>);
static_assert(cudaSuccess == code::success && cudaErrorInvalidValue == code::invalid_value &&
              cudaErrorMemoryAllocation == code::out_of_memory &&
              cudaErrorInitializationError == code::not_initialised && cudaErrorCudartUnloading == code::deinitialised);
static_assert(cudaErrorInsufficientDriver == code::insufficient_driver &&
              cudaErrorDevicesUnavailable == code::devices_unavailable && cudaErrorNoDevice == code::no_device &&
              cudaErrorInvalidDevice == code::invalid_device && cudaErrorNoKernelImageForDevice == code::no_binary);
static_assert(cudaErrorECCUncorrectable == code::ecc_uncorrectable &&
              cudaErrorNvlinkUncorrectable == code::nvlink_uncorrectable &&
              cudaErrorOperatingSystem == code::operating_system &&
              cudaErrorInvalidResourceHandle == code::invalid_handle && cudaErrorNotReady == code::not_ready);
static_assert(cudaErrorIllegalAddress == code::illegal_address &&
              cudaErrorLaunchOutOfResources == code::launch_out_of_resources &&
              cudaErrorLaunchTimeout == code::launch_timeout &&
              cudaErrorContextIsDestroyed == code::context_destroyed && cudaErrorAssert == code::assertion &&
              cudaErrorHardwareStackError == code::hardware_stack);
static_assert(cudaErrorIllegalInstruction == code::illegal_instruction &&
              cudaErrorMisalignedAddress == code::misaligned_address &&
              cudaErrorInvalidAddressSpace == code::invalid_address_space &&
              cudaErrorInvalidPc == code::invalid_program_counter && cudaErrorLaunchFailure == code::launch_failure);
static_assert(cudaErrorNotPermitted == code::not_permitted && cudaErrorNotSupported == code::not_supported &&
              cudaErrorSystemNotReady == code::system_not_ready &&
              cudaErrorSystemDriverMismatch == code::driver_mismatch &&
              cudaErrorCompatNotSupportedOnDevice == code::compatibility_not_supported);
static_assert(cudaErrorStreamCaptureUnsupported == code::capture_first &&
              cudaErrorStreamCaptureWrongThread == code::capture_last && cudaErrorUnknown == code::unknown);

}  // namespace assay::gpu
