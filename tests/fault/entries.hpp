// SPDX-License-Identifier: Apache-2.0
// Every entry of the device table that returns a status, by name, in the table's order.
#pragma once

#include <cstddef>

#include "backends/abi/assay_backend.h"

// X(name) for each entry. A test compares the count with the table's size, so that none can be forgotten.
#define ASSAY_TABLE_ENTRIES(X)                                                                                      \
  X(describe)                                                                                                       \
  X(kernel_count)                                                                                                   \
  X(kernel_info) X(device_count) X(device_open) X(device_close) X(device_identity) X(device_sensors)                \
      X(device_capability) X(device_synchronize) X(memory_info) X(malloc) X(free) X(host_malloc) X(host_free)       \
          X(stream_create) X(stream_destroy) X(stream_query) X(stream_synchronize) X(stream_wait_event)             \
              X(event_create) X(event_destroy) X(event_record) X(event_query) X(event_synchronize) X(event_elapsed) \
                  X(copy) X(fill) X(peer_copy) X(kernel_resources) X(launch) X(pool_create) X(pool_destroy)         \
                      X(pool_malloc) X(pool_free) X(pool_trim) X(pool_get) X(pool_set) X(vmm_granularity)           \
                          X(vmm_reserve) X(vmm_unreserve) X(vmm_create) X(vmm_release) X(vmm_map) X(vmm_unmap)      \
                              X(graph_begin) X(graph_end) X(graph_launch) X(graph_destroy)

namespace assay::fault {

enum class Entry {
#define ASSAY_ENTRY_NAME(name) name,
  ASSAY_TABLE_ENTRIES(ASSAY_ENTRY_NAME)
#undef ASSAY_ENTRY_NAME
      count_
};

inline constexpr std::size_t kEntryCount = static_cast<std::size_t>(Entry::count_);

inline constexpr const char* kEntryNames[kEntryCount] = {
#define ASSAY_ENTRY_NAME(name) #name,
    ASSAY_TABLE_ENTRIES(ASSAY_ENTRY_NAME)
#undef ASSAY_ENTRY_NAME
};

// The table is two numbers, last_error and these entries; one that is added must be added above too.
static_assert(sizeof(assay_backend) == offsetof(assay_backend, describe) + kEntryCount * sizeof(void*));

}  // namespace assay::fault
