// SPDX-License-Identifier: Apache-2.0
// The device table of one runtime: every entry of the ABI, each behind the wall that stops exceptions.
#pragma once

#include "backends/gpu/devices.hpp"
#include "backends/gpu/graph.hpp"
#include "backends/gpu/identity.hpp"
#include "backends/gpu/memory.hpp"
#include "backends/gpu/pool.hpp"
#include "backends/gpu/streams.hpp"
#include "backends/gpu/vmm.hpp"
#include "backends/gpu/work.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
const char* last_error() {
  return error_buffer<Rt>().data();
}

// The table is static and constant; a module's entry function returns its address.
template <GpuRuntime Rt>
inline constexpr assay_backend backend_table = {
    .size = sizeof(assay_backend),
    .abi_version = ASSAY_ABI_VERSION,
    .last_error = last_error<Rt>,
    .describe = Entry<Rt, &describe<Rt>>::call,
    .kernel_count = Entry<Rt, &kernel_count<Rt>>::call,
    .kernel_info = Entry<Rt, &kernel_info<Rt>>::call,
    .device_count = Entry<Rt, &device_count<Rt>>::call,
    .device_open = Entry<Rt, &device_open<Rt>>::call,
    .device_close = Entry<Rt, &device_close<Rt>>::call,
    .device_identity = Entry<Rt, &device_identity<Rt>>::call,
    .device_sensors = Entry<Rt, &device_sensors<Rt>>::call,
    .device_capability = Entry<Rt, &device_capability<Rt>>::call,
    .device_synchronize = Entry<Rt, &device_synchronize<Rt>>::call,
    .memory_info = Entry<Rt, &memory_info<Rt>>::call,
    .malloc = Entry<Rt, &memory_allocate<Rt>>::call,
    .free = Entry<Rt, &memory_free<Rt>>::call,
    .host_malloc = Entry<Rt, &host_allocate<Rt>>::call,
    .host_free = Entry<Rt, &host_release<Rt>>::call,
    .stream_create = Entry<Rt, &stream_create<Rt>>::call,
    .stream_destroy = Entry<Rt, &stream_destroy<Rt>>::call,
    .stream_query = Entry<Rt, &stream_query<Rt>>::call,
    .stream_synchronize = Entry<Rt, &stream_synchronize<Rt>>::call,
    .stream_wait_event = Entry<Rt, &stream_wait_event<Rt>>::call,
    .event_create = Entry<Rt, &event_create<Rt>>::call,
    .event_destroy = Entry<Rt, &event_destroy<Rt>>::call,
    .event_record = Entry<Rt, &event_record<Rt>>::call,
    .event_query = Entry<Rt, &event_query<Rt>>::call,
    .event_synchronize = Entry<Rt, &event_synchronize<Rt>>::call,
    .event_elapsed = Entry<Rt, &event_elapsed<Rt>>::call,
    .copy = Entry<Rt, &copy<Rt>>::call,
    .fill = Entry<Rt, &fill<Rt>>::call,
    .peer_copy = Entry<Rt, &peer_copy<Rt>>::call,
    .kernel_resources = Entry<Rt, &kernel_resources<Rt>>::call,
    .launch = Entry<Rt, &launch<Rt>>::call,
    .pool_create = Entry<Rt, &pool_create<Rt>>::call,
    .pool_destroy = Entry<Rt, &pool_destroy<Rt>>::call,
    .pool_malloc = Entry<Rt, &pool_malloc<Rt>>::call,
    .pool_free = Entry<Rt, &pool_free<Rt>>::call,
    .pool_trim = Entry<Rt, &pool_trim<Rt>>::call,
    .pool_get = Entry<Rt, &pool_get<Rt>>::call,
    .pool_set = Entry<Rt, &pool_set<Rt>>::call,
    .vmm_granularity = Entry<Rt, &vmm_granularity<Rt>>::call,
    .vmm_reserve = Entry<Rt, &vmm_reserve<Rt>>::call,
    .vmm_unreserve = Entry<Rt, &vmm_unreserve<Rt>>::call,
    .vmm_create = Entry<Rt, &vmm_create<Rt>>::call,
    .vmm_release = Entry<Rt, &vmm_release<Rt>>::call,
    .vmm_map = Entry<Rt, &vmm_map<Rt>>::call,
    .vmm_unmap = Entry<Rt, &vmm_unmap<Rt>>::call,
    .graph_begin = Entry<Rt, &graph_begin<Rt>>::call,
    .graph_end = Entry<Rt, &graph_end<Rt>>::call,
    .graph_launch = Entry<Rt, &graph_launch<Rt>>::call,
    .graph_destroy = Entry<Rt, &graph_destroy<Rt>>::call,
};

}  // namespace assay::gpu
