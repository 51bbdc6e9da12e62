// SPDX-License-Identifier: Apache-2.0
// What the module states without a device.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"
#include "backends/host/identity.hpp"
#include "backends/host/kernel_table.hpp"

namespace assay::host {

assay_status describe_module(assay_field_sink sink, void* context) noexcept {
  return guarded([&]() -> assay_status {
    if (sink == nullptr) return is_null("describe", "the sink");
    describe(sink, context);
    return ASSAY_OK;
  });
}

assay_status kernel_count(int32_t* out) noexcept {
  return guarded([&]() -> assay_status {
    if (out == nullptr) return is_null("kernel_count", "the result");
    *out = static_cast<int32_t>(kernel_table().size());
    return ASSAY_OK;
  });
}

assay_status kernel_info(int32_t index, assay_kernel_info* out) noexcept {
  return guarded([&]() -> assay_status {
    if (out == nullptr) return is_null("kernel_info", "the result");
    const auto table = kernel_table();
    if (index < 0 || static_cast<std::size_t>(index) >= table.size())
      return fail(ASSAY_INVALID_VALUE, "kernel_info: there is no kernel %d among %zu; ask kernel_count", index,
                  table.size());
    const auto& entry = table[static_cast<std::size_t>(index)];
    *out = assay_kernel_info{entry.name, entry.dtype, entry.implementation, entry.source_version, entry.params_bytes};
    return ASSAY_OK;
  });
}

// Two, so that everything that concerns several boards can be tried on one machine.
assay_status device_count(int32_t* out) noexcept {
  if (out == nullptr) return is_null("device_count", "the result");
  *out = 2;
  return ASSAY_OK;
}

}  // namespace assay::host
