// SPDX-License-Identifier: Apache-2.0
// Charging and refunding. external_bytes_ is counted, never computed, so that a wrong count shows in the balance.
#include "backends/host/ledger.hpp"

#include "backends/host/status.hpp"

namespace assay::host {

assay_status Ledger::charge(std::int64_t bytes, std::uint32_t owner) {
  const std::lock_guard lock(mutex_);
  if (bytes > budget_bytes_ - used_bytes_)
    return fail(
        ASSAY_OUT_OF_MEMORY,
        "host device %d is out of memory: %lld bytes requested, %lld used of a budget of %lld; lower the load or "
        "raise --host-memory",
        ordinal_, static_cast<long long>(bytes), static_cast<long long>(used_bytes_),
        static_cast<long long>(budget_bytes_));
  used_bytes_ += bytes;
  if (owner == ASSAY_OWNER_ALLOCATOR)
    allocator_bytes_ += bytes;
  else
    external_bytes_ += bytes;
  return ASSAY_OK;
}

void Ledger::refund(std::int64_t bytes, std::uint32_t owner) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= bytes;
  if (owner == ASSAY_OWNER_ALLOCATOR)
    allocator_bytes_ -= bytes;
  else
    external_bytes_ -= bytes;
}

void Ledger::read(assay_memory_info& out) const {
  const std::lock_guard lock(mutex_);
  out.total_bytes = budget_bytes_;
  out.used_bytes = used_bytes_;
  out.allocator_bytes = allocator_bytes_;
  out.external_bytes = external_bytes_;
}

}  // namespace assay::host
