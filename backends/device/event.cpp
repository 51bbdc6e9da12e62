// SPDX-License-Identifier: Apache-2.0
// Event: a point in a stream's order.
#include "backends/device/device.hpp"

namespace assay::device {

Result<Event> Event::create(const Device& device, bool timing) {
  const assay_backend& table = device.table();
  assay_event* handle = nullptr;
  const std::uint32_t flags = timing ? std::uint32_t{ASSAY_EVENT_TIMING} : 0;
  if (const auto status = table.event_create(device.handle(), flags, &handle); status != ASSAY_OK)
    return error_from(table, status, "creating an event");
  return Event(&table, handle);
}

Event::Event(Event&& other) noexcept : table_(other.table_), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_ != nullptr) table_->event_destroy(handle_);
}

Result<void> Event::record(const Stream& stream) const {
  if (const auto status = table_->event_record(handle_, stream.handle()); status != ASSAY_OK)
    return error_from(*table_, status, "recording an event");
  return {};
}

Result<bool> Event::finished() const {
  const auto status = table_->event_query(handle_);
  if (status == ASSAY_OK) return true;
  if (status == ASSAY_NOT_READY) return false;
  return error_from(*table_, status, "asking whether an event has completed");
}

Result<void> Event::synchronize() const {
  if (const auto status = table_->event_synchronize(handle_); status != ASSAY_OK)
    return error_from(*table_, status, "waiting for an event");
  return {};
}

Result<double> Event::elapsed_ns(const Event& start, const Event& end) {
  double elapsed = 0.0;
  if (const auto status = start.table_->event_elapsed(start.handle_, end.handle_, &elapsed); status != ASSAY_OK)
    return error_from(*start.table_, status, "reading the time between two events");
  return elapsed;
}

}  // namespace assay::device
