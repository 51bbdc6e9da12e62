// SPDX-License-Identifier: Apache-2.0
// InterruptGuard: SIGINT, SIGTERM and SIGHUP become a flag and a readable descriptor while one exists.
#pragma once

namespace assay::process {

// A signal's handler is a property of the whole process, so one guard is meant to exist at a time: the outermost one
// installs the handlers, inner ones do nothing. A second signal of the same kind has its default effect, so that a
// program that does not react can still be stopped.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  bool outermost_ = false;
};

// Whether one of these signals arrived while a guard existed; stays true for the life of the process.
[[nodiscard]] bool interrupted();

// Readable once interrupted() is true; -1 when no guard exists.
[[nodiscard]] int interrupt_descriptor();

// Forgets an earlier interrupt (tests).
void clear_interrupt();

}  // namespace assay::process
