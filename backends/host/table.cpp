// SPDX-License-Identifier: Apache-2.0
// The host module's table, in the order of assay_backend.h.
#include "backends/host/entries.hpp"
#include "backends/host/status.hpp"

namespace assay::host {

const assay_backend& host_table() noexcept {
  static constexpr assay_backend kTable = {
      sizeof(assay_backend),
      ASSAY_ABI_VERSION,
      last_error,
      describe_module,
      kernel_count,
      kernel_info,
      device_count,
      device_open,
      device_close,
      device_identity,
      device_sensors,
      device_capability,
      device_synchronize,
      memory_info,
      device_malloc,
      device_free,
      host_malloc,
      host_free,
      stream_create,
      stream_destroy,
      stream_query,
      stream_synchronize,
      stream_wait_event,
      event_create,
      event_destroy,
      event_record,
      event_query,
      event_synchronize,
      event_elapsed,
      copy,
      fill,
      peer_copy,
      kernel_resources,
      launch,
      pool_create,
      pool_destroy,
      pool_malloc,
      pool_free,
      pool_trim,
      pool_get,
      pool_set,
      vmm_granularity,
      vmm_reserve,
      vmm_unreserve,
      vmm_create,
      vmm_release,
      vmm_map,
      vmm_unmap,
      graph_begin,
      graph_end,
      graph_launch,
      graph_destroy,
  };
  return kTable;
}

}  // namespace assay::host
