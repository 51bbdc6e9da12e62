// SPDX-License-Identifier: Apache-2.0
// Fibres over ucontext, annotated for ThreadSanitizer. Speed does not matter here; the order it sees does.
#include "backends/host/fibre.hpp"

#ifdef ASSAY_TSAN

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "backends/host/lane.hpp"

namespace assay::host {
namespace {
constexpr std::size_t kStackBytes = std::size_t{4} << 20;  // ThreadSanitizer makes frames several times larger
}

Fibre::Fibre(PerformTask perform, void* edge) : perform_(perform), edge_(edge) {
  stack_ = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  identity_ = __tsan_create_fiber(0);
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = kStackBytes;
  own_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&own_, reinterpret_cast<void (*)()>(&Fibre::start), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

Fibre::~Fibre() {
  __tsan_destroy_fiber(identity_);
  ::munmap(stack_, kStackBytes);
}

void Fibre::run(std::unique_ptr<Task> task) {
  task_.store(task.release(), std::memory_order_relaxed);
  back_identity_.store(__tsan_get_current_fiber(), std::memory_order_relaxed);
  __tsan_switch_to_fiber(identity_, __tsan_switch_to_fiber_no_sync);
  ::swapcontext(&back_, &own_);
}

void Fibre::start(unsigned high, unsigned low) {
  const auto self = (static_cast<std::uintptr_t>(high) << 32) | low;
  reinterpret_cast<Fibre*>(self)->loop();
}

void Fibre::loop() {
  for (;;) {
    perform_(std::unique_ptr<Task>(task_.load(std::memory_order_relaxed)));
    // Once the edge is released the lane may be closed and this object freed: nothing of it is read after that.
    void* back = back_identity_.load(std::memory_order_relaxed);
    order_before(edge_);
    __tsan_switch_to_fiber(back, __tsan_switch_to_fiber_no_sync);
    ::swapcontext(&own_, &back_);
  }
}

}  // namespace assay::host

#endif
