// SPDX-License-Identifier: Apache-2.0
// DeviceCalls: the few entries of the device table an allocator uses, with every status turned into a Result.
#pragma once

#include <algorithm>
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
  // Virtual memory management. reserve gives an address range without memory.
  [[nodiscard]] Result<std::size_t> granularity() const {
    std::size_t minimum = 0;
    std::size_t recommended = 0;
    const assay_status status = table_->vmm_granularity(device_, &minimum, &recommended);
    if (status != ASSAY_OK) return device::error_from(*table_, status, "The mapping granularity cannot be read");
    return std::max(minimum, recommended);
  }
  [[nodiscard]] Result<std::uintptr_t> reserve(std::size_t bytes) const {
    void* address = nullptr;
    const assay_status status = table_->vmm_reserve(device_, bytes, &address);
    if (status == ASSAY_OK) return reinterpret_cast<std::uintptr_t>(address);
    return device::error_from(*table_, status,
                              "The device refused an address range of " + std::to_string(bytes) + " bytes");
  }
  Result<void> unreserve(std::uintptr_t address, std::size_t bytes) const {
    return checked(table_->vmm_unreserve(device_, reinterpret_cast<void*>(address), bytes),
                   "The device refused to take an address range back");
  }
  // New memory behind [address, address + bytes), which goes back to the device when it is unmapped. False when the
  // device, or the budget, has no such room left.
  [[nodiscard]] Result<bool> map(std::uintptr_t address, std::size_t bytes) const {
    assay_physical* physical = nullptr;
    assay_status status = table_->vmm_create(device_, bytes, ASSAY_OWNER_ALLOCATOR, &physical);
    if (status == ASSAY_OUT_OF_MEMORY) return false;
    if (status != ASSAY_OK)
      return device::error_from(*table_, status, "The device refused memory of " + std::to_string(bytes) + " bytes");
    status = table_->vmm_map(device_, reinterpret_cast<void*>(address), bytes, physical);
    Error refusal;
    if (status != ASSAY_OK && status != ASSAY_OUT_OF_MEMORY)
      refusal =
          device::error_from(*table_, status, "The device refused a mapping of " + std::to_string(bytes) + " bytes");
    const assay_status released = table_->vmm_release(device_, physical);  // the mapping keeps it alive
    if (status == ASSAY_OUT_OF_MEMORY) return false;
    if (status != ASSAY_OK) return refusal;
    if (released == ASSAY_OK) return true;
    refusal = device::error_from(*table_, released, "The device refused to hand memory over to its mapping");
    (void)table_->vmm_unmap(device_, reinterpret_cast<void*>(address), bytes);
    return refusal;
  }
  Result<void> unmap(std::uintptr_t address, std::size_t bytes) const {
    return checked(table_->vmm_unmap(device_, reinterpret_cast<void*>(address), bytes),
                   "The device refused to unmap memory");
  }
  Result<void> synchronize_all() const {
    return checked(table_->device_synchronize(device_), "Waiting for the device failed");
  }
  Result<void> synchronize(assay_stream* stream) const {
    return checked(table_->stream_synchronize(stream), "Waiting for a stream failed");
  }

  [[nodiscard]] Result<assay_memory_info> memory_info() const {
    assay_memory_info info{};
    const assay_status status = table_->memory_info(device_, &info);
    if (status != ASSAY_OK) return device::error_from(*table_, status, "The device's memory cannot be read");
    return info;
  }

  [[nodiscard]] Result<assay_stream*> create_stream() const {
    assay_stream* stream = nullptr;
    const assay_status status = table_->stream_create(device_, 0, &stream);
    if (status != ASSAY_OK) return device::error_from(*table_, status, "A stream of the allocator's own was refused");
    return stream;
  }
  void destroy_stream(assay_stream* stream) const { (void)table_->stream_destroy(stream); }
  Result<void> wait(assay_stream* stream, assay_event* event) const {
    return checked(table_->stream_wait_event(stream, event), "A stream cannot be made to wait for another");
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
