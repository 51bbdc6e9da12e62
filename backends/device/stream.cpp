// SPDX-License-Identifier: Apache-2.0
// Stream: work in order on a device.
#include "backends/device/device.hpp"

namespace assay::device {

Result<Stream> Stream::create(const Device& device, std::int32_t priority) {
  const assay_backend& table = device.table();
  assay_stream* handle = nullptr;
  if (const auto status = table.stream_create(device.handle(), priority, &handle); status != ASSAY_OK)
    return error_from(table, status, "creating a stream");
  return Stream(&table, handle);
}

Stream::Stream(Stream&& other) noexcept : table_(other.table_), handle_(std::exchange(other.handle_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (handle_ != nullptr) table_->stream_destroy(handle_);
}

Result<void> Stream::synchronize() const {
  if (const auto status = table_->stream_synchronize(handle_); status != ASSAY_OK)
    return error_from(*table_, status, "waiting for a stream");
  return {};
}

Result<bool> Stream::finished() const {
  const auto status = table_->stream_query(handle_);
  if (status == ASSAY_OK) return true;
  if (status == ASSAY_NOT_READY) return false;
  return error_from(*table_, status, "asking whether a stream has finished");
}

Result<void> Stream::wait(const Event& event) const {
  if (const auto status = table_->stream_wait_event(handle_, event.handle()); status != ASSAY_OK)
    return error_from(*table_, status, "making a stream wait for an event");
  return {};
}

Result<void> Stream::copy(void* to, const void* from, std::size_t bytes, std::int32_t kind) const {
  if (const auto status = table_->copy(handle_, to, from, bytes, kind); status != ASSAY_OK)
    return error_from(*table_, status, "copying " + std::to_string(bytes) + " bytes");
  return {};
}

Result<void> Stream::fill(void* to, std::uint8_t value, std::size_t bytes) const {
  if (const auto status = table_->fill(handle_, to, value, bytes); status != ASSAY_OK)
    return error_from(*table_, status, "filling " + std::to_string(bytes) + " bytes");
  return {};
}

Result<void> Stream::launch_bytes(std::int32_t index, const void* params, std::size_t bytes) const {
  if (const auto status = table_->launch(handle_, index, params, bytes); status != ASSAY_OK)
    return error_from(*table_, status, "launching kernel " + std::to_string(index));
  return {};
}

}  // namespace assay::device
