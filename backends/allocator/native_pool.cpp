// SPDX-License-Identifier: Apache-2.0
// The runtime's pool, entry by entry.
#include "backends/allocator/native_pool.hpp"

namespace assay::allocator {

Result<NativePool> NativePool::create(const assay_backend& table, assay_device* device) {
  assay_pool* pool = nullptr;
  const assay_status status = table.pool_create(device, &pool);
  if (status == ASSAY_OK) return NativePool(table, pool);
  Error reason = device::error_from(table, status, "a pool of the runtime's own cannot be made");
  if (reason.code != ErrorCode::unsupported) return reason;
  reason.text = "Allocator policy native needs the runtime's stream-ordered pool, which this device does not offer (" +
                reason.text + "); choose caching.";
  return reason;
}

NativePool::~NativePool() {
  if (pool_ != nullptr) (void)table_->pool_destroy(pool_);
}

Result<void> NativePool::checked(assay_status status, std::string_view what) const {
  if (status == ASSAY_OK) return {};
  return device::error_from(*table_, status, what);
}

Result<void*> NativePool::allocate(std::size_t bytes, assay_stream* stream) const {
  void* pointer = nullptr;
  const assay_status status = table_->pool_malloc(pool_, bytes, stream, &pointer);
  if (status == ASSAY_OK) return pointer;
  if (status == ASSAY_OUT_OF_MEMORY) return static_cast<void*>(nullptr);
  return device::error_from(*table_, status, "The runtime's pool refused " + std::to_string(bytes) + " bytes");
}

Result<void> NativePool::free(void* pointer, assay_stream* stream) const {
  return checked(table_->pool_free(pool_, pointer, stream), "The runtime's pool refused to take memory back");
}

Result<void> NativePool::trim(std::size_t keep_bytes) const {
  return checked(table_->pool_trim(pool_, keep_bytes), "The runtime's pool cannot be trimmed");
}

Result<std::uint64_t> NativePool::get(std::int32_t attribute) const {
  std::uint64_t value = 0;
  const assay_status status = table_->pool_get(pool_, attribute, &value);
  if (status == ASSAY_OK) return value;
  return device::error_from(*table_, status, "An attribute of the runtime's pool cannot be read");
}

Result<void> NativePool::set(std::int32_t attribute, std::uint64_t value) const {
  return checked(table_->pool_set(pool_, attribute, value), "An attribute of the runtime's pool cannot be set");
}

}  // namespace assay::allocator
