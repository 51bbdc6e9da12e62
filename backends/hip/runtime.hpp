// SPDX-License-Identifier: Apache-2.0
// Hip: the HIP runtime as the shared source sees it. Same names in the same order as backends/cuda/runtime.hpp.
#pragma once

#include "backends/hip/target.hpp"  // first: decides the platform before a HIP header is read

#include <hip/hip_runtime_api.h>

#include <cstring>

#include "backends/gpu/codes.hpp"
#include "backends/gpu/library.hpp"
#include "backends/gpu/runtime.hpp"
#include "backends/hip/versions.hpp"

namespace assay::gpu {

struct Hip {
  using Status = hipError_t;
  using Stream = hipStream_t;
  using Event = hipEvent_t;
  using Pool = hipMemPool_t;
  using PoolAttribute = hipMemPoolAttr;
  using Physical = hipMemGenericAllocationHandle_t;
  using Graph = hipGraph_t;
  using GraphExec = hipGraphExec_t;
  using Properties = hipDeviceProp_t;
  using FunctionAttributes = hipFuncAttributes;

  static constexpr const char* backend = "hip";
  static constexpr const char* platform = ASSAY_HIP_PLATFORM;
  static constexpr bool is_amd = ASSAY_HIP_IS_AMD;
  static constexpr bool driver_version_is_api = !is_amd;
  static constexpr std::size_t vmm_minimum_bytes = std::size_t{2} << 20;
  static constexpr std::uint32_t shared_without_asking = 64U << 10;  // all of a CU's LDS, up to CDNA3
  static constexpr std::uint64_t max_grid_threads = 0xFFFFFFFFU;     // a dispatch counts threads in 32 bits
  static constexpr auto host_to_device = hipMemcpyHostToDevice;
  static constexpr auto device_to_host = hipMemcpyDeviceToHost;
  static constexpr auto device_to_device = hipMemcpyDeviceToDevice;
  static constexpr const char* memory_info_name = "hipMemGetInfo";
  static constexpr const char* board_used_name = "sysfs mem_info_vram_used";
  static constexpr const char* board_process_name = "/sys/class/kfd/kfd/proc";
  static constexpr const char* properties_name = "hipGetDeviceProperties";
  static constexpr const char* uuid_name = "hipDeviceGetUuid";
  static constexpr const char* runtime_version_name = "hipRuntimeGetVersion";
  static constexpr const char* driver_version_name = "hipDriverGetVersion";
  static constexpr const char* function_attributes_name = "hipFuncGetAttributes";
  static constexpr const char* granularity_name = "hipMemGetAllocationGranularity";

  static const char* error_name(Status s) { return hipGetErrorName(s); }
  static const char* error_text(Status s) { return hipGetErrorString(s); }
  static Status clear_last_error() { return hipGetLastError(); }
  static Status runtime_version(int* out) { return hipRuntimeGetVersion(out); }
  static Status driver_version(int* out) { return hipDriverGetVersion(out); }
  static const void* library_symbol() { return reinterpret_cast<const void*>(&hipRuntimeGetVersion); }

  static Status device_count(int* out) { return hipGetDeviceCount(out); }
  static Status set_device(int ordinal) { return hipSetDevice(ordinal); }
  static Status get_properties(Properties* out, int ordinal) { return hipGetDeviceProperties(out, ordinal); }
  static std::string arch_name(const Properties& p) { return hip::arch_name(p); }
  static std::string uuid(const Properties&, int ordinal) { return hip::uuid(ordinal); }
  static std::size_t largest_shared(const Properties& p) { return p.sharedMemPerBlock; }
  static Status device_synchronize() { return hipDeviceSynchronize(); }
  static Status can_access_peer(int* out, int from, int to) { return hipDeviceCanAccessPeer(out, from, to); }

  static Status memory_info(std::size_t* free_bytes, std::size_t* total) { return hipMemGetInfo(free_bytes, total); }
  static Status malloc(void** out, std::size_t bytes) { return hipMalloc(out, bytes); }
  static Status free(void* pointer) { return hipFree(pointer); }
  static Status host_malloc(void** out, std::size_t bytes) { return hipHostMalloc(out, bytes, hipHostMallocDefault); }
  static Status host_free(void* pointer) { return hipHostFree(pointer); }

  static Status stream_create(Stream* out, int priority) {
    return hipStreamCreateWithPriority(out, hipStreamNonBlocking, priority);
  }
  static Status stream_destroy(Stream stream) { return hipStreamDestroy(stream); }
  static Status stream_query(Stream stream) { return hipStreamQuery(stream); }
  static Status stream_synchronize(Stream stream) { return hipStreamSynchronize(stream); }
  static Status stream_wait_event(Stream stream, Event event) { return hipStreamWaitEvent(stream, event, 0); }
  static Status event_create(Event* out, bool timing) {
    return hipEventCreateWithFlags(out, timing ? hipEventDefault : hipEventDisableTiming);
  }
  static Status event_destroy(Event event) { return hipEventDestroy(event); }
  static Status event_record(Event event, Stream stream) { return hipEventRecord(event, stream); }
  static Status event_query(Event event) { return hipEventQuery(event); }
  static Status event_synchronize(Event event) { return hipEventSynchronize(event); }
  static Status event_elapsed(float* out_ms, Event start, Event end) { return hipEventElapsedTime(out_ms, start, end); }

  static Status copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, Stream stream) {
    return hipMemcpyAsync(to, from, bytes, kind, stream);
  }
  static Status fill(void* to, int value, std::size_t bytes, Stream stream) {
    return hipMemsetAsync(to, value, bytes, stream);
  }
  static Status peer_copy(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          Stream stream) {
    return hipMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }
  static Status function_attributes(FunctionAttributes* out, const void* entry) {
    return hipFuncGetAttributes(out, entry);
  }
  static Status allow_shared(const void* entry, int bytes) {
    return hipFuncSetAttribute(entry, hipFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  static Status launch(const void* entry, std::uint32_t grid, std::uint32_t block, void** arguments,
                       std::size_t shared_bytes, Stream stream) {
    return hipLaunchKernel(entry, dim3(grid), dim3(block), arguments, shared_bytes, stream);
  }

  static Status pool_create(Pool* out, int ordinal) {
    const hipMemPoolProps properties = pool_properties(ordinal);
    return hipMemPoolCreate(out, &properties);
  }
  static Status pool_destroy(Pool pool) { return hipMemPoolDestroy(pool); }
  static Status pool_malloc(void** out, std::size_t bytes, Pool pool, Stream stream) {
    return hipMallocFromPoolAsync(out, bytes, pool, stream);
  }
  static Status pool_free(void* pointer, Stream stream) { return hipFreeAsync(pointer, stream); }
  static Status pool_trim(Pool pool, std::size_t keep_bytes) { return hipMemPoolTrimTo(pool, keep_bytes); }
  static Status pool_get(Pool pool, PoolAttribute attribute, void* out) {
    return hipMemPoolGetAttribute(pool, attribute, out);
  }
  static Status pool_set(Pool pool, PoolAttribute attribute, void* value) {
    return hipMemPoolSetAttribute(pool, attribute, value);
  }
  static PoolAttribute pool_attribute(std::int32_t attribute) {
    switch (attribute) {
      case ASSAY_POOL_RELEASE_THRESHOLD:
        return hipMemPoolAttrReleaseThreshold;
      case ASSAY_POOL_RESERVED_CURRENT:
        return hipMemPoolAttrReservedMemCurrent;
      case ASSAY_POOL_RESERVED_HIGH:
        return hipMemPoolAttrReservedMemHigh;
      case ASSAY_POOL_USED_CURRENT:
        return hipMemPoolAttrUsedMemCurrent;
      case ASSAY_POOL_USED_HIGH:
        return hipMemPoolAttrUsedMemHigh;
      case ASSAY_POOL_REUSE_FOLLOW_EVENT:
        return hipMemPoolReuseFollowEventDependencies;
      case ASSAY_POOL_REUSE_OPPORTUNISTIC:
        return hipMemPoolReuseAllowOpportunistic;
      default:
        return hipMemPoolReuseAllowInternalDependencies;
    }
  }

  static Status vmm_attribute(int* out, int ordinal) { return hip::vmm_attribute(out, ordinal); }
  static Status vmm_granularity(std::size_t* out, bool recommended, int ordinal) {
    const hipMemAllocationProp properties = allocation_properties(ordinal);
    return hipMemGetAllocationGranularity(
        out, &properties, recommended ? hipMemAllocationGranularityRecommended : hipMemAllocationGranularityMinimum);
  }
  static Status vmm_reserve(void** out, std::size_t bytes, std::size_t alignment) {
    return hipMemAddressReserve(out, bytes, alignment, nullptr, 0);
  }
  static Status vmm_unreserve(void* address, std::size_t bytes) { return hipMemAddressFree(address, bytes); }
  static Status vmm_create(Physical* out, std::size_t bytes, int ordinal) {
    const hipMemAllocationProp properties = allocation_properties(ordinal);
    return hipMemCreate(out, bytes, &properties, 0);
  }
  static Status vmm_release(Physical physical) { return hipMemRelease(physical); }
  static Status vmm_map(void* address, std::size_t bytes, Physical physical) {
    return hipMemMap(address, bytes, 0, physical, 0);  // an offset other than 0 is refused by HIP
  }
  static Status vmm_set_access(void* address, std::size_t bytes, int ordinal) {
    const hipMemAccessDesc access{{hipMemLocationTypeDevice, ordinal}, hipMemAccessFlagsProtReadWrite};
    return hipMemSetAccess(address, bytes, &access, 1);
  }
  static Status vmm_unmap(void* address, std::size_t bytes) { return hipMemUnmap(address, bytes); }

  static Status capture_begin(Stream stream) { return hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal); }
  static Status capture_end(Stream stream, Graph* out) { return hipStreamEndCapture(stream, out); }
  static Status graph_destroy(Graph graph) { return hipGraphDestroy(graph); }
  static Status graph_instantiate(GraphExec* out, Graph graph) { return hipGraphInstantiateWithFlags(out, graph, 0); }
  static Status graph_launch(GraphExec exec, Stream stream) { return hipGraphLaunch(exec, stream); }
  static Status graph_exec_destroy(GraphExec exec) { return hipGraphExecDestroy(exec); }

  static std::span<const kernels::KernelEntry> kernels();
  static const BuildFacts& build_facts();
  static void describe_lower_layer(const FieldWriter& out);
  static std::unique_ptr<Board> open_board(const BoardQuery& query);

 private:
  static hipMemPoolProps pool_properties(int ordinal) {
    hipMemPoolProps properties{};
    properties.allocType = hipMemAllocationTypePinned;
    properties.handleTypes = hipMemHandleTypeNone;
    properties.location.type = hipMemLocationTypeDevice;
    properties.location.id = ordinal;
    return properties;
  }
  static hipMemAllocationProp allocation_properties(int ordinal) {
    hipMemAllocationProp properties{};
    properties.type = hipMemAllocationTypePinned;
    properties.requestedHandleType = hipMemHandleTypeNone;
    properties.location.type = hipMemLocationTypeDevice;
    properties.location.id = ordinal;
    return properties;
  }
};

static_assert(GpuRuntime<Hip>);
static_assert(hipSuccess == code::success && hipErrorInvalidValue == code::invalid_value &&
              hipErrorOutOfMemory == code::out_of_memory && hipErrorNotInitialized == code::not_initialised &&
              hipErrorDeinitialized == code::deinitialised);
static_assert(hipErrorInsufficientDriver == code::insufficient_driver && hipErrorNoDevice == code::no_device &&
              hipErrorInvalidDevice == code::invalid_device && hipErrorNoBinaryForGpu == code::no_binary);
static_assert(hipErrorECCNotCorrectable == code::ecc_uncorrectable &&
              hipErrorOperatingSystem == code::operating_system && hipErrorInvalidHandle == code::invalid_handle &&
              hipErrorNotReady == code::not_ready);
static_assert(hipErrorIllegalAddress == code::illegal_address &&
              hipErrorLaunchOutOfResources == code::launch_out_of_resources &&
              hipErrorLaunchTimeOut == code::launch_timeout && hipErrorContextIsDestroyed == code::context_destroyed &&
              hipErrorAssert == code::assertion && hipErrorLaunchFailure == code::launch_failure);
static_assert(hipErrorNotSupported == code::not_supported && hipErrorStreamCaptureUnsupported == code::capture_first &&
              hipErrorStreamCaptureWrongThread == code::capture_last && hipErrorUnknown == code::unknown);

}  // namespace assay::gpu
