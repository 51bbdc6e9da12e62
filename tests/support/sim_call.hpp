// SPDX-License-Identifier: Apache-2.0
// SimCall: the frame of every call into the simulated runtime: lock, count, injected failure, sticky error, last error.
#pragma once

#include "tests/support/sim_world.hpp"

namespace assay::test {

class SimCall {
 public:
  SimCall(SimWorld& world, const char* name) : world_(world), lock_(world.mutex_) {
    ++world_.calls_;
    ++world_.calls_by_name_[name];
    if (world_.sticky_ != 0) {
      failure_ = world_.sticky_;  // nothing but this error, for the rest of the process
    } else if (world_.fail_after_ > 0 && (world_.fail_name_.empty() || world_.fail_name_ == name) &&
               --world_.fail_after_ == 0) {
      failure_ = world_.fail_code_;
      world_.failed_call_ = name;
      if (sticky(failure_)) world_.sticky_ = failure_;
    }
  }
  // Whether the call is over before it began.
  [[nodiscard]] bool failed() const { return failure_ != 0; }
  [[nodiscard]] SimStatus failure() { return done(failure_); }
  // Keeps the last error as the vendor does: NVIDIA the last failure until it is read, AMD the last call's answer.
  SimStatus done(int status) {
    if (world_.sticky_ != 0 && status == 0) status = world_.sticky_;  // an asynchronous fault surfaces anywhere
    if (world_.vendor == Vendor::amd || status != 0) world_.last_error_ = status;
    return static_cast<SimStatus>(status);
  }
  static bool sticky(int code) { return code >= 700 && code != 701 && code < 720; }

 private:
  SimWorld& world_;
  std::unique_lock<std::recursive_mutex> lock_;
  int failure_ = 0;
};

}  // namespace assay::test
