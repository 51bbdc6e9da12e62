// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several entries share. Each returns OK, or a status with its sentence set.
#pragma once

#include "backends/abi/assay_backend.h"
#include "backends/host/handles.hpp"
#include "backends/host/status.hpp"

namespace assay::host {

inline assay_status not_live(const char* call, const char* kind) {
  return fail(ASSAY_INVALID_VALUE, "%s: the %s is null, already destroyed or no %s; pass a live one", call, kind, kind);
}

inline assay_status is_null(const char* call, const char* what) {
  return fail(ASSAY_INVALID_VALUE, "%s: %s is null; pass an address", call, what);
}

// Live handles of a device that has not faulted.
inline assay_status check(const char* call, const assay_device* device) {
  return live(device) ? device->state->check() : not_live(call, "device");
}
inline assay_status check(const char* call, const assay_stream* stream) {
  return live(stream) ? stream->device->check() : not_live(call, "stream");
}
inline assay_status check(const char* call, const assay_event* event) {
  return live(event) ? event->device->check() : not_live(call, "event");
}

inline assay_status check_owner(const char* call, std::uint32_t owner) {
  if (owner == ASSAY_OWNER_EXTERNAL || owner == ASSAY_OWNER_ALLOCATOR) return ASSAY_OK;
  return fail(ASSAY_INVALID_VALUE, "%s: owner %u is unknown; pass ASSAY_OWNER_EXTERNAL or ASSAY_OWNER_ALLOCATOR", call,
              owner);
}

// Waits for everything submitted to the device's streams before the call.
void drain_device(DeviceState& device);

// After something was waited for: pools give back what lies beyond their release threshold.
void settle_pools(DeviceState& device);

}  // namespace assay::host
