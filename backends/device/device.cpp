// SPDX-License-Identifier: Apache-2.0
// Device: opening, closing, reading, and memory.
#include "backends/device/device.hpp"

#include "backends/device/fields.hpp"

namespace assay::device {

Result<Device> Device::open(const Module& module, std::int32_t ordinal, const Options& options) {
  std::vector<assay_option> raw;
  raw.reserve(options.size());
  for (const auto& [key, value] : options) raw.push_back(assay_option{key.c_str(), value.c_str()});
  const assay_backend& table = module.table();
  assay_device* handle = nullptr;
  const auto status = table.device_open(ordinal, raw.empty() ? nullptr : raw.data(), raw.size(), &handle);
  if (status != ASSAY_OK) return error_from(table, status, "opening device " + std::to_string(ordinal));
  return Device(&table, handle);
}

Device::Device(Device&& other) noexcept : table_(other.table_), handle_(std::exchange(other.handle_, nullptr)) {}

Device& Device::operator=(Device&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(handle_, other.handle_);
  return *this;
}

// A status of closing has nobody left to act on it.
Device::~Device() {
  if (handle_ != nullptr) table_->device_close(handle_);
}

Result<std::vector<IdentityField>> Device::identity() const {
  FieldCollector collector;
  if (const auto status = table_->device_identity(handle_, &FieldCollector::sink, &collector); status != ASSAY_OK)
    return error_from(*table_, status, "reading the device's identity");
  return collector.take();
}

Result<std::vector<IdentityField>> Device::sensors() const {
  FieldCollector collector;
  if (const auto status = table_->device_sensors(handle_, &FieldCollector::sink, &collector); status != ASSAY_OK)
    return error_from(*table_, status, "reading the device's sensors");
  return collector.take();
}

Result<bool> Device::capability(std::int32_t capability) const {
  std::int32_t supported = 0;
  if (const auto status = table_->device_capability(handle_, capability, &supported); status != ASSAY_OK)
    return error_from(*table_, status, "reading capability " + std::to_string(capability));
  return supported != 0;
}

Result<assay_memory_info> Device::memory_info() const {
  assay_memory_info info{};
  if (const auto status = table_->memory_info(handle_, &info); status != ASSAY_OK)
    return error_from(*table_, status, "reading the device's memory");
  return info;
}

Result<void> Device::synchronize() const {
  if (const auto status = table_->device_synchronize(handle_); status != ASSAY_OK)
    return error_from(*table_, status, "waiting for the device");
  return {};
}

Result<void*> Device::malloc(std::size_t bytes, std::uint32_t owner) const {
  void* pointer = nullptr;
  if (const auto status = table_->malloc(handle_, bytes, owner, &pointer); status != ASSAY_OK)
    return error_from(*table_, status, "allocating " + std::to_string(bytes) + " bytes");
  return pointer;
}

Result<void> Device::free(void* pointer) const {
  if (const auto status = table_->free(handle_, pointer); status != ASSAY_OK)
    return error_from(*table_, status, "freeing device memory");
  return {};
}

}  // namespace assay::device
