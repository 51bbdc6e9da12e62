// SPDX-License-Identifier: Apache-2.0
// Sim<vendor>: the third traits struct of the GPU modules' shared source, over the simulated runtime.
#pragma once

#include "backends/gpu/runtime.hpp"
#include "tests/support/sim_world.hpp"

namespace assay::test {

// Facts and board of the simulated modules.
const gpu::BuildFacts& sim_build_facts(Vendor vendor);
std::unique_ptr<gpu::Board> open_sim_board(Vendor vendor, const gpu::BoardQuery& query);
const char* sim_error_name(int code);

template <Vendor V>
struct Sim {
  using Status = SimStatus;
  using Stream = SimStream*;
  using Event = SimEvent*;
  using Pool = SimPool*;
  using PoolAttribute = int;
  using Physical = SimPhysical*;
  using Graph = SimGraph*;
  using GraphExec = SimGraphExec*;
  using Properties = SimProperties;
  using FunctionAttributes = SimFunction;

  static constexpr bool is_amd = V == Vendor::amd;
  static constexpr const char* backend = is_amd ? "hip" : "cuda";
  static constexpr const char* platform = is_amd ? "amd" : "nvidia";
  static constexpr bool driver_version_is_api = !is_amd;
  static constexpr std::size_t vmm_minimum_bytes = std::size_t{2} << 20;
  static constexpr std::uint32_t shared_without_asking = is_amd ? 64U << 10 : 48U << 10;
  static constexpr std::uint64_t max_grid_threads = is_amd ? 0xFFFFFFFFU : ~std::uint64_t{0};
  static constexpr int host_to_device = 1;
  static constexpr int device_to_host = 2;
  static constexpr int device_to_device = 3;
  static constexpr const char* memory_info_name = "simMemGetInfo";
  static constexpr const char* board_used_name = "simulated board";
  static constexpr const char* board_process_name = "simulated board";
  static constexpr const char* properties_name = "simGetDeviceProperties";
  static constexpr const char* uuid_name = "simGetDeviceProperties";
  static constexpr const char* runtime_version_name = "simRuntimeGetVersion";
  static constexpr const char* driver_version_name = "simDriverGetVersion";
  static constexpr const char* function_attributes_name = "simFuncGetAttributes";
  static constexpr const char* granularity_name = "simMemGetAllocationGranularity";

  static SimWorld& world() { return sim_world(V); }

  static const char* error_name(Status s) { return sim_error_name(static_cast<int>(s)); }
  static const char* error_text(Status) { return "said by the simulated runtime"; }
  static Status clear_last_error() { return world().clear_last_error(); }
  static Status runtime_version(int* out) { return world().runtime_version(out); }
  static Status driver_version(int* out) { return world().driver_version(out); }
  static const void* library_symbol() { return reinterpret_cast<const void*>(&sim_error_name); }

  static Status device_count(int* out) { return world().device_count(out); }
  static Status set_device(int ordinal) { return world().set_device(ordinal); }
  static Status get_properties(Properties* out, int ordinal) { return world().properties(out, ordinal); }
  static std::string arch_name(const Properties&) { return is_amd ? "gfx90a:sramecc+:xnack-" : "sm_90"; }
  static std::string uuid(const Properties&, int ordinal) {
    if (!world().settings.has_uuid) return {};
    return std::string(is_amd ? "amd:00000000000000a" : "nvidia:GPU-0000000") + std::to_string(ordinal);
  }
  static std::size_t largest_shared(const Properties& p) { return p.sharedMemPerBlock; }
  static Status device_synchronize() { return world().device_synchronize(); }
  static Status can_access_peer(int* out, int from, int to) { return world().can_access_peer(out, from, to); }

  static Status memory_info(std::size_t* free_bytes, std::size_t* total) {
    return world().memory_info(free_bytes, total);
  }
  static Status malloc(void** out, std::size_t bytes) { return world().malloc(out, bytes); }
  static Status free(void* pointer) { return world().free(pointer); }
  static Status host_malloc(void** out, std::size_t bytes) { return world().host_malloc(out, bytes); }
  static Status host_free(void* pointer) { return world().host_free(pointer); }

  static Status stream_create(Stream* out, int priority) { return world().stream_create(out, priority); }
  static Status stream_destroy(Stream stream) { return world().stream_destroy(stream); }
  static Status stream_query(Stream stream) { return world().stream_query(stream); }
  static Status stream_synchronize(Stream stream) { return world().stream_synchronize(stream); }
  static Status stream_wait_event(Stream stream, Event event) { return world().stream_wait_event(stream, event); }
  static Status event_create(Event* out, bool timing) { return world().event_create(out, timing); }
  static Status event_destroy(Event event) { return world().event_destroy(event); }
  static Status event_record(Event event, Stream stream) { return world().event_record(event, stream); }
  static Status event_query(Event event) { return world().event_query(event); }
  static Status event_synchronize(Event event) { return world().event_synchronize(event); }
  static Status event_elapsed(float* out, Event start, Event end) { return world().event_elapsed(out, start, end); }

  static Status copy(void* to, const void* from, std::size_t bytes, int kind, Stream stream) {
    return world().copy(to, from, bytes, kind, stream);
  }
  static Status fill(void* to, int value, std::size_t bytes, Stream stream) {
    return world().fill(to, value, bytes, stream);
  }
  static Status peer_copy(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          Stream stream) {
    return world().peer_copy(to, to_device, from, from_device, bytes, stream);
  }
  static Status function_attributes(FunctionAttributes* out, const void* entry) {
    return world().function_attributes(out, entry);
  }
  static Status allow_shared(const void* entry, int bytes) { return world().allow_shared(entry, bytes); }
  static Status launch(const void* entry, std::uint32_t grid, std::uint32_t block, void** arguments, std::size_t,
                       Stream stream) {
    return world().launch(entry, grid, block, arguments, stream);
  }

  static Status pool_create(Pool* out, int ordinal) { return world().pool_create(out, ordinal); }
  static Status pool_destroy(Pool pool) { return world().pool_destroy(pool); }
  static Status pool_malloc(void** out, std::size_t bytes, Pool pool, Stream stream) {
    return world().pool_malloc(out, bytes, pool, stream);
  }
  static Status pool_free(void* pointer, Stream stream) { return world().pool_free(pointer, stream); }
  static Status pool_trim(Pool pool, std::size_t keep) { return world().pool_trim(pool, keep); }
  static Status pool_get(Pool pool, PoolAttribute attribute, void* out) {
    return world().pool_get(pool, attribute, out);
  }
  static Status pool_set(Pool pool, PoolAttribute attribute, void* value) {
    return world().pool_set(pool, attribute, value);
  }
  static PoolAttribute pool_attribute(std::int32_t attribute) { return attribute; }

  static Status vmm_attribute(int* out, int) { return world().vmm_attribute(out); }
  static Status vmm_granularity(std::size_t* out, bool recommended, int) {
    return world().vmm_granularity(out, recommended);
  }
  static Status vmm_reserve(void** out, std::size_t bytes, std::size_t alignment) {
    return world().vmm_reserve(out, bytes, alignment);
  }
  static Status vmm_unreserve(void* address, std::size_t bytes) { return world().vmm_unreserve(address, bytes); }
  static Status vmm_create(Physical* out, std::size_t bytes, int ordinal) {
    return world().vmm_create(out, bytes, ordinal);
  }
  static Status vmm_release(Physical physical) { return world().vmm_release(physical); }
  static Status vmm_map(void* address, std::size_t bytes, Physical physical) {
    return world().vmm_map(address, bytes, 0, physical);
  }
  static Status vmm_set_access(void* address, std::size_t bytes, int) { return world().vmm_set_access(address, bytes); }
  static Status vmm_unmap(void* address, std::size_t bytes) { return world().vmm_unmap(address, bytes); }

  static Status capture_begin(Stream stream) { return world().capture_begin(stream); }
  static Status capture_end(Stream stream, Graph* out) { return world().capture_end(stream, out); }
  static Status graph_destroy(Graph graph) { return world().graph_destroy(graph); }
  static Status graph_instantiate(GraphExec* out, Graph graph) { return world().graph_instantiate(out, graph); }
  static Status graph_launch(GraphExec exec, Stream stream) { return world().graph_launch(exec, stream); }
  static Status graph_exec_destroy(GraphExec exec) { return world().graph_exec_destroy(exec); }

  static std::span<const kernels::KernelEntry> kernels() { return {world().kernels.entries, world().kernels.count}; }
  static const gpu::BuildFacts& build_facts() { return sim_build_facts(V); }
  static void describe_lower_layer(const gpu::FieldWriter& out) {
    out.not_applicable("hsa_runtime_path", "a simulated runtime", "build");
  }
  static std::unique_ptr<gpu::Board> open_board(const gpu::BoardQuery& query) { return open_sim_board(V, query); }
};

using SimNvidia = Sim<Vendor::nvidia>;
using SimAmd = Sim<Vendor::amd>;
static_assert(gpu::GpuRuntime<SimNvidia>);
static_assert(gpu::GpuRuntime<SimAmd>);

}  // namespace assay::test
