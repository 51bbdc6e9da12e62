// SPDX-License-Identifier: Apache-2.0
// Fibre: a lane's own stack and identity towards ThreadSanitizer. Does nothing in other builds, where lanes are
// threads.
#pragma once

#include <memory>

#ifdef ASSAY_TSAN
#include <ucontext.h>

#include <atomic>
#endif

namespace assay::host {

struct Task;
using PerformTask = void (*)(std::unique_ptr<Task> task);

#ifdef ASSAY_TSAN

// Created and destroyed by the thread that opens and closes the lane; run() only by the serving thread.
class Fibre {
 public:
  // `edge` is released after every task, so that whoever waits for the lane is ordered after it.
  Fibre(PerformTask perform, void* edge);
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Runs the task on the fibre's stack and returns when it is done. The switch itself orders nothing.
  void run(std::unique_ptr<Task> task);

 private:
  static void start(unsigned high, unsigned low);
  void loop();

  PerformTask perform_;
  void* edge_;
  void* stack_;
  void* identity_;
  // Written by the serving thread and read by the fibre without an order between them, hence atomic.
  std::atomic<void*> back_identity_{nullptr};
  std::atomic<Task*> task_{nullptr};
  ucontext_t own_{};
  ucontext_t back_{};
};

#else

class Fibre {
 public:
  Fibre(PerformTask, void*) {}
  void run(std::unique_ptr<Task>) {}
};

#endif

}  // namespace assay::host
