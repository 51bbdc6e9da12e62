// SPDX-License-Identifier: Apache-2.0
// OptionalLock: a mutex that an owner with one thread can do without.
#pragma once

#include <mutex>

namespace assay::allocator {

// Works with std::lock_guard.
class OptionalLock {
 public:
  void lock() {
    if (needed_) mutex_.lock();
  }
  void unlock() {
    if (needed_) mutex_.unlock();
  }
  // From now on nothing is locked. While one thread alone knows the lock, and it is free.
  void turn_off() { needed_ = false; }

 private:
  std::mutex mutex_;
  bool needed_ = true;
};

}  // namespace assay::allocator
