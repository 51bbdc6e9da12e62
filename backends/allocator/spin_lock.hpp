// SPDX-License-Identifier: Apache-2.0
// SpinLock: a lock for sections of a few dozen instructions that two threads seldom want at once.
#pragma once

#include <atomic>
#include <thread>

namespace assay::allocator {

// Uncontended, one atomic exchange and one store. A waiter that has spun in vain gives its time slice away, so that a
// holder that is inside a device call is not starved. Works with std::lock_guard.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) {
      for (int i = 0; i < kSpins && taken_.load(std::memory_order_relaxed); ++i) {
      }
      if (taken_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 64;
  std::atomic<bool> taken_{false};
};

}  // namespace assay::allocator
