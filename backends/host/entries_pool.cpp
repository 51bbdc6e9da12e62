// SPDX-License-Identifier: Apache-2.0
// The runtime's own pool: not offered yet; device_capability says so.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {
namespace {

assay_status unsupported() {
  return fail(ASSAY_UNSUPPORTED, "the host module has no pool of its own; use the caching allocator");
}

}  // namespace

assay_status pool_create(assay_device* device, assay_pool**) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check("pool_create", device);
    return status != ASSAY_OK ? status : unsupported();
  });
}

assay_status pool_destroy(assay_pool*) noexcept {
  return unsupported();
}
assay_status pool_malloc(assay_pool*, size_t, assay_stream*, void**) noexcept {
  return unsupported();
}
assay_status pool_free(assay_pool*, void*, assay_stream*) noexcept {
  return unsupported();
}
assay_status pool_trim(assay_pool*, size_t) noexcept {
  return unsupported();
}
assay_status pool_get(assay_pool*, int32_t, uint64_t*) noexcept {
  return unsupported();
}
assay_status pool_set(assay_pool*, int32_t, uint64_t) noexcept {
  return unsupported();
}

}  // namespace assay::host
