// SPDX-License-Identifier: Apache-2.0
// DeviceState: what one open device holds.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include "backends/abi/assay_backend.h"
#include "backends/host/exec/executor.hpp"
#include "backends/host/identity.hpp"
#include "backends/host/memory.hpp"

namespace assay::host {

// Handles made from the device; device_close ends those that are left.
struct Children {
  std::mutex mutex;
  std::set<assay_stream*> streams;
  std::set<assay_event*> events;
  std::set<assay_pool*> pools;
  std::set<assay_physical*> physicals;
};

class DeviceState {
 public:
  explicit DeviceState(const DeviceFacts& device_facts)
      : facts(device_facts), executor(device_facts.executor), memory(device_facts.ordinal, device_facts.memory_bytes) {}

  // A kernel faulted: from here on the device answers KERNEL_FAULT. The first sentence stays.
  void set_fault(const char* sentence) noexcept;
  // OK, or KERNEL_FAULT with the sentence set for the calling thread.
  assay_status check() const;
  [[nodiscard]] bool faulted() const { return faulted_.load(std::memory_order_relaxed); }

  const DeviceFacts facts;
  const Executor executor;
  Memory memory;
  Children children;

 private:
  std::atomic<bool> faulted_{false};
  mutable std::mutex fault_mutex_;
  char fault_[512] = "";  // a plain array: work may fail for want of memory
};

}  // namespace assay::host
