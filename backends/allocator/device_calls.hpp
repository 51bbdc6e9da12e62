// SPDX-License-Identifier: Apache-2.0
// DeviceCalls: the few entries of the device table an allocator uses, with every status turned into a Result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/abi/assay_backend.h"
#include "backends/device/device.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

// One open device. A value: copies name the same device, which must outlive them. As thread-safe as the table.
class DeviceCalls {
 public:
  DeviceCalls(const assay_backend& table, assay_device* device) : table_(&table), device_(device) {}

  // Null when the device, or the budget, has no such room left; every other failure is an Error.
  [[nodiscard]] Result<void*> allocate(std::size_t bytes) const {
    void* pointer = nullptr;
    const assay_status status = table_->malloc(device_, bytes, ASSAY_OWNER_ALLOCATOR, &pointer);
    if (status == ASSAY_OK) return pointer;
    if (status == ASSAY_OUT_OF_MEMORY) return static_cast<void*>(nullptr);
    return device::error_from(*table_, status, "The device refused a segment of " + std::to_string(bytes) + " bytes");
  }
  Result<void> free(void* pointer) const {
    return checked(table_->free(device_, pointer), "The device refused to take memory back");
  }
  [[nodiscard]] Result<assay_memory_info> memory_info() const {
    assay_memory_info info{};
    const assay_status status = table_->memory_info(device_, &info);
    if (status != ASSAY_OK) return device::error_from(*table_, status, "The device's memory cannot be read");
    return info;
  }

  [[nodiscard]] Result<assay_event*> create_event() const {
    assay_event* event = nullptr;
    const assay_status status = table_->event_create(device_, 0, &event);
    if (status != ASSAY_OK)
      return device::error_from(*table_, status, "An event for a deferred free cannot be created");
    return event;
  }
  void destroy_event(assay_event* event) const { (void)table_->event_destroy(event); }
  Result<void> record(assay_event* event, assay_stream* stream) const {
    return checked(table_->event_record(event, stream), "An event for a deferred free cannot be recorded");
  }
  // Whether the stream has passed the event.
  [[nodiscard]] Result<bool> passed(assay_event* event) const {
    const assay_status status = table_->event_query(event);
    if (status == ASSAY_OK) return true;
    if (status == ASSAY_NOT_READY) return false;
    return device::error_from(*table_, status, "The event of a deferred free failed");
  }
  Result<void> synchronize(assay_event* event) const {
    return checked(table_->event_synchronize(event), "Waiting for the event of a deferred free failed");
  }

 private:
  Result<void> checked(assay_status status, std::string_view what) const {
    if (status == ASSAY_OK) return {};
    return device::error_from(*table_, status, what);
  }

  const assay_backend* table_;
  assay_device* device_;
};

}  // namespace assay::allocator
