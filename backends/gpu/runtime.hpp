// SPDX-License-Identifier: Apache-2.0
// GpuRuntime: what a traits struct must offer so that the shared source can drive its runtime.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backends/gpu/board.hpp"
#include "kernels/common/kernel.hpp"

namespace assay::gpu {

// One struct per runtime (backends/cuda/runtime.hpp, backends/hip/runtime.hpp, tests/support/sim_runtime.hpp), with the
// same names in the same order. Functions are static, take and return the runtime's own types, return the runtime's own
// Status, and add nothing: every decision is in the shared source. No function takes the default stream.
template <class Rt>
concept GpuRuntime = requires(typename Rt::Status status, typename Rt::Stream stream, typename Rt::Event event,
                              typename Rt::Pool pool, typename Rt::Physical physical, typename Rt::Graph graph,
                              typename Rt::GraphExec exec, typename Rt::Properties properties,
                              typename Rt::FunctionAttributes function, typename Rt::PoolAttribute attribute,
                              int number, float milliseconds, std::size_t bytes, void* pointer, const void* constant,
                              void** out, std::uint32_t width) {
  // What it is.
  { Rt::backend } -> std::convertible_to<const char*>;
  { Rt::platform } -> std::convertible_to<const char*>;
  { Rt::is_amd } -> std::convertible_to<bool>;
  { Rt::driver_version_is_api } -> std::convertible_to<bool>;
  { Rt::vmm_minimum_bytes } -> std::convertible_to<std::size_t>;
  { Rt::shared_without_asking } -> std::convertible_to<std::uint32_t>;
  { Rt::max_grid_threads } -> std::convertible_to<std::uint64_t>;
  // Errors and versions.
  { Rt::error_name(status) } -> std::convertible_to<const char*>;
  { Rt::error_text(status) } -> std::convertible_to<const char*>;
  { Rt::clear_last_error() } -> std::same_as<typename Rt::Status>;
  { Rt::runtime_version(&number) } -> std::same_as<typename Rt::Status>;
  { Rt::driver_version(&number) } -> std::same_as<typename Rt::Status>;
  { Rt::library_symbol() } -> std::same_as<const void*>;
  { Rt::memory_info_name } -> std::convertible_to<const char*>;
  // Devices.
  { Rt::device_count(&number) } -> std::same_as<typename Rt::Status>;
  { Rt::set_device(0) } -> std::same_as<typename Rt::Status>;
  { Rt::get_properties(&properties, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::arch_name(properties) } -> std::same_as<std::string>;
  { Rt::uuid(properties, 0) } -> std::same_as<std::string>;
  { Rt::largest_shared(properties) } -> std::convertible_to<std::size_t>;
  { Rt::device_synchronize() } -> std::same_as<typename Rt::Status>;
  { Rt::can_access_peer(&number, 0, 1) } -> std::same_as<typename Rt::Status>;
  // Memory.
  { Rt::memory_info(&bytes, &bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::malloc(out, bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::free(pointer) } -> std::same_as<typename Rt::Status>;
  { Rt::host_malloc(out, bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::host_free(pointer) } -> std::same_as<typename Rt::Status>;
  // Streams and events.
  { Rt::stream_create(&stream, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::stream_destroy(stream) } -> std::same_as<typename Rt::Status>;
  { Rt::stream_query(stream) } -> std::same_as<typename Rt::Status>;
  { Rt::stream_synchronize(stream) } -> std::same_as<typename Rt::Status>;
  { Rt::stream_wait_event(stream, event) } -> std::same_as<typename Rt::Status>;
  { Rt::event_create(&event, true) } -> std::same_as<typename Rt::Status>;
  { Rt::event_destroy(event) } -> std::same_as<typename Rt::Status>;
  { Rt::event_record(event, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::event_query(event) } -> std::same_as<typename Rt::Status>;
  { Rt::event_synchronize(event) } -> std::same_as<typename Rt::Status>;
  { Rt::event_elapsed(&milliseconds, event, event) } -> std::same_as<typename Rt::Status>;
  // Work.
  { Rt::copy(pointer, constant, bytes, Rt::host_to_device, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::copy(pointer, constant, bytes, Rt::device_to_host, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::copy(pointer, constant, bytes, Rt::device_to_device, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::fill(pointer, 0, bytes, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::peer_copy(pointer, 0, constant, 1, bytes, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::function_attributes(&function, constant) } -> std::same_as<typename Rt::Status>;
  { Rt::allow_shared(constant, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::launch(constant, width, width, out, bytes, stream) } -> std::same_as<typename Rt::Status>;
  // The runtime's pool.
  { Rt::pool_create(&pool, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_destroy(pool) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_malloc(out, bytes, pool, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_free(pointer, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_trim(pool, bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_get(pool, attribute, pointer) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_set(pool, attribute, pointer) } -> std::same_as<typename Rt::Status>;
  { Rt::pool_attribute(0) } -> std::same_as<typename Rt::PoolAttribute>;
  // Virtual memory.
  { Rt::vmm_attribute(&number, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_granularity(&bytes, false, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_reserve(out, bytes, bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_unreserve(pointer, bytes) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_create(&physical, bytes, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_release(physical) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_map(pointer, bytes, physical) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_set_access(pointer, bytes, 0) } -> std::same_as<typename Rt::Status>;
  { Rt::vmm_unmap(pointer, bytes) } -> std::same_as<typename Rt::Status>;
  // Graphs.
  { Rt::capture_begin(stream) } -> std::same_as<typename Rt::Status>;
  { Rt::capture_end(stream, &graph) } -> std::same_as<typename Rt::Status>;
  { Rt::graph_destroy(graph) } -> std::same_as<typename Rt::Status>;
  { Rt::graph_instantiate(&exec, graph) } -> std::same_as<typename Rt::Status>;
  { Rt::graph_launch(exec, stream) } -> std::same_as<typename Rt::Status>;
  { Rt::graph_exec_destroy(exec) } -> std::same_as<typename Rt::Status>;
  // What the module carries, and the board behind a device.
  { Rt::kernels() } -> std::same_as<std::span<const kernels::KernelEntry>>;
  { Rt::build_facts() } -> std::same_as<const BuildFacts&>;
  Rt::describe_lower_layer(FieldWriter(nullptr, nullptr));
  { Rt::open_board(BoardQuery{}) } -> std::same_as<std::unique_ptr<Board>>;
};

}  // namespace assay::gpu
