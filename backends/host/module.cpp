// SPDX-License-Identifier: Apache-2.0
// The one symbol of the host module.
#include "backends/host/entries.hpp"

extern "C" __attribute__((visibility("default"))) const assay_backend* assay_backend_entry_v1(void);

const assay_backend* assay_backend_entry_v1(void) {
  return &assay::host::host_table();
}
