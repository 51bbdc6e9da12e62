// SPDX-License-Identifier: Apache-2.0
// Executor: runs one kernel on the CPU, either one thread a block (speed) or the real block shape as fibres (checking).
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common/kernel.hpp"

namespace assay::host {

struct ExecutorOptions {
  std::uint32_t wave = 1;     // 1: speed mode; 32 or 64: real block shapes with that wave
  std::uint32_t threads = 0;  // CPU threads for one kernel; 0: all that this process may use. Checking mode uses one.
  std::uint32_t block = 0;    // checking mode: threads a block, a multiple of wave; 0: what the kernel's shape asks for
};

// Runs kernels of the CPU module. One executor may be used from several threads at once (one a stream).
class Executor {
 public:
  explicit Executor(ExecutorOptions options) : options_(options) {}
  [[nodiscard]] const ExecutorOptions& options() const { return options_; }
  // The Target that launch shapes are computed for.
  [[nodiscard]] kernels::Target target() const;
  // Runs the whole grid and returns when it is done. False, with a sentence in *failure, when the kernel faulted: a
  // barrier that not every thread of a block reached, or a shape the executor cannot run.
  bool run(const kernels::KernelEntry& entry, const void* params, std::string* failure) const;

 private:
  ExecutorOptions options_;
};

}  // namespace assay::host
