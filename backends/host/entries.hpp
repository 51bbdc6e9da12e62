// SPDX-License-Identifier: Apache-2.0
// The entries of the host module's table; their contract is the table's own comment.
#pragma once

#include "backends/abi/assay_backend.h"

namespace assay::host {

// The table itself: static, complete, every entry non-null.
[[nodiscard]] const assay_backend& host_table() noexcept;

// entries_module.cpp
assay_status describe_module(assay_field_sink sink, void* context) noexcept;
assay_status kernel_count(int32_t* out) noexcept;
assay_status kernel_info(int32_t index, assay_kernel_info* out) noexcept;
assay_status device_count(int32_t* out) noexcept;

// entries_device.cpp
assay_status device_open(int32_t ordinal, const assay_option* options, size_t count, assay_device** out) noexcept;
assay_status device_close(assay_device* device) noexcept;
assay_status device_identity(assay_device* device, assay_field_sink sink, void* context) noexcept;
assay_status device_sensors(assay_device* device, assay_field_sink sink, void* context) noexcept;
assay_status device_capability(assay_device* device, int32_t capability, int32_t* supported) noexcept;
assay_status device_synchronize(assay_device* device) noexcept;
assay_status kernel_resources(assay_device* device, int32_t index, assay_kernel_resources* out) noexcept;

// entries_memory.cpp
assay_status memory_info(assay_device* device, assay_memory_info* out) noexcept;
assay_status device_malloc(assay_device* device, size_t bytes, uint32_t owner, void** out) noexcept;
assay_status device_free(assay_device* device, void* pointer) noexcept;
assay_status host_malloc(assay_device* device, size_t bytes, void** out) noexcept;
assay_status host_free(assay_device* device, void* pointer) noexcept;

// entries_stream.cpp
assay_status stream_create(assay_device* device, int32_t priority, assay_stream** out) noexcept;
assay_status stream_destroy(assay_stream* stream) noexcept;
assay_status stream_query(assay_stream* stream) noexcept;
assay_status stream_synchronize(assay_stream* stream) noexcept;
assay_status stream_wait_event(assay_stream* stream, assay_event* event) noexcept;

// entries_event.cpp
assay_status event_create(assay_device* device, uint32_t flags, assay_event** out) noexcept;
assay_status event_destroy(assay_event* event) noexcept;
assay_status event_record(assay_event* event, assay_stream* stream) noexcept;
assay_status event_query(assay_event* event) noexcept;
assay_status event_synchronize(assay_event* event) noexcept;
assay_status event_elapsed(assay_event* start, assay_event* end, double* out_ns) noexcept;

// entries_work.cpp
assay_status copy(assay_stream* stream, void* to, const void* from, size_t bytes, int32_t kind) noexcept;
assay_status fill(assay_stream* stream, void* to, uint8_t value, size_t bytes) noexcept;
assay_status peer_copy(assay_stream* stream, void* to, assay_device* to_device, const void* from,
                       assay_device* from_device, size_t bytes) noexcept;
assay_status launch(assay_stream* stream, int32_t kernel, const void* params, size_t params_bytes) noexcept;

// entries_pool.cpp
assay_status pool_create(assay_device* device, assay_pool** out) noexcept;
assay_status pool_destroy(assay_pool* pool) noexcept;
assay_status pool_malloc(assay_pool* pool, size_t bytes, assay_stream* stream, void** out) noexcept;
assay_status pool_free(assay_pool* pool, void* pointer, assay_stream* stream) noexcept;
assay_status pool_trim(assay_pool* pool, size_t keep_bytes) noexcept;
assay_status pool_get(assay_pool* pool, int32_t attribute, uint64_t* out) noexcept;
assay_status pool_set(assay_pool* pool, int32_t attribute, uint64_t value) noexcept;

// entries_virtual_memory.cpp
assay_status vmm_granularity(assay_device* device, size_t* minimum, size_t* recommended) noexcept;
assay_status vmm_reserve(assay_device* device, size_t bytes, void** out) noexcept;
assay_status vmm_unreserve(assay_device* device, void* address, size_t bytes) noexcept;
assay_status vmm_create(assay_device* device, size_t bytes, uint32_t owner, assay_physical** out) noexcept;
assay_status vmm_release(assay_device* device, assay_physical* physical) noexcept;
assay_status vmm_map(assay_device* device, void* address, size_t bytes, assay_physical* physical) noexcept;
assay_status vmm_unmap(assay_device* device, void* address, size_t bytes) noexcept;

// entries_graph.cpp
assay_status graph_begin(assay_stream* stream) noexcept;
assay_status graph_end(assay_stream* stream, assay_graph** out) noexcept;
assay_status graph_launch(assay_graph* graph, assay_stream* stream) noexcept;
assay_status graph_destroy(assay_graph* graph) noexcept;

}  // namespace assay::host
