// SPDX-License-Identifier: Apache-2.0
// Ledger: the memory budget of one device and who holds it. Three accounts, each kept by itself.
#pragma once

#include <cstdint>
#include <mutex>

#include "backends/abi/assay_backend.h"

namespace assay::host {

// What can become resident is charged; reserved address space is not. Thread-safe.
class Ledger {
 public:
  Ledger(std::int32_t ordinal, std::int64_t budget_bytes) : ordinal_(ordinal), budget_bytes_(budget_bytes) {}
  // OUT_OF_MEMORY, with requested, used and budget bytes in the sentence, when the budget does not hold it.
  assay_status charge(std::int64_t bytes, std::uint32_t owner);
  void refund(std::int64_t bytes, std::uint32_t owner);
  // Fills total, used, allocator and external bytes.
  void read(assay_memory_info& out) const;
  [[nodiscard]] std::int64_t budget_bytes() const { return budget_bytes_; }

 private:
  const std::int32_t ordinal_;
  const std::int64_t budget_bytes_;
  mutable std::mutex mutex_;
  std::int64_t used_bytes_ = 0;
  std::int64_t allocator_bytes_ = 0;
  std::int64_t external_bytes_ = 0;
};

}  // namespace assay::host
