// SPDX-License-Identifier: Apache-2.0
// The one file that switches stacks: detail::jump_fcontext of Boost.Context, which is private to Boost, with the
// annotations ASan and TSan need. Replacing the switch (ucontext, another library) means replacing this file.
#include "backends/host/exec/context.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_ASAN 1
#endif
#if __has_feature(thread_sanitizer) && !defined(ASSAY_TSAN)
#define ASSAY_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(ASSAY_ASAN)
#define ASSAY_ASAN 1
#endif
#if defined(ASSAY_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(ASSAY_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace assay::host {

namespace boost_context = boost::context::detail;

struct Context::State {
  unsigned char* stack = nullptr;
  std::size_t stack_bytes = 0;
  Body body = nullptr;
  void* argument = nullptr;
  bool finished = true;
  boost_context::fcontext_t inside = nullptr;   // where the computation was suspended
  boost_context::fcontext_t outside = nullptr;  // where resume() was called
#if defined(ASSAY_ASAN)
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
  void* inside_fake_stack = nullptr;
#endif
#if defined(ASSAY_TSAN)
  void* inside_fiber = nullptr;
  void* outside_fiber = nullptr;
#endif

  static void enter(boost_context::transfer_t from);
  void leave(bool for_good);
};

// First frame of a fresh stack.
void Context::State::enter(boost_context::transfer_t from) {
  auto* self = static_cast<State*>(from.data);
#if defined(ASSAY_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &self->outside_stack, &self->outside_bytes);
#endif
  self->outside = from.fctx;
  self->body(self->argument);
  self->finished = true;
  self->leave(true);
}

void Context::State::leave([[maybe_unused]] bool for_good) {
#if defined(ASSAY_ASAN)
  // A null first argument frees the fake frames of a computation that will not be resumed.
  __sanitizer_start_switch_fiber(for_good ? nullptr : &inside_fake_stack, outside_stack, outside_bytes);
#endif
#if defined(ASSAY_TSAN)
  __tsan_switch_to_fiber(outside_fiber, 0);
#endif
  const boost_context::transfer_t back = boost_context::jump_fcontext(outside, nullptr);
#if defined(ASSAY_ASAN)
  __sanitizer_finish_switch_fiber(inside_fake_stack, &outside_stack, &outside_bytes);
#endif
  outside = back.fctx;
}

Context::Context(unsigned char* stack, std::size_t stack_bytes) : state_(std::make_unique<State>()) {
  state_->stack = stack;
  state_->stack_bytes = stack_bytes;
#if defined(ASSAY_TSAN)
  state_->inside_fiber = __tsan_create_fiber(0);
#endif
}

Context::~Context() {
#if defined(ASSAY_TSAN)
  __tsan_destroy_fiber(state_->inside_fiber);
#endif
}

void Context::start(Body body, void* argument) {
#if defined(ASSAY_ASAN)
  // The frames of the previous computation leave poison behind, and GCC drops the first unpoisoning of a new frame.
  __asan_unpoison_memory_region(state_->stack, state_->stack_bytes);
#endif
  state_->body = body;
  state_->argument = argument;
  state_->finished = false;
  state_->inside =
      boost_context::make_fcontext(state_->stack + state_->stack_bytes, state_->stack_bytes, &State::enter);
}

void Context::resume() {
#if defined(ASSAY_TSAN)
  state_->outside_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(state_->inside_fiber, 0);
#endif
#if defined(ASSAY_ASAN)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, state_->stack, state_->stack_bytes);
#endif
  const boost_context::transfer_t back = boost_context::jump_fcontext(state_->inside, state_.get());
#if defined(ASSAY_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  state_->inside = back.fctx;
}

void Context::suspend() {
  state_->leave(false);
}

bool Context::finished() const {
  return state_->finished;
}

namespace {

// Kernel bodies keep arrays of a few hundred bytes; sanitizers widen every frame.
#if defined(ASSAY_ASAN) || defined(ASSAY_TSAN)
constexpr std::size_t kStackBytes = 256 * 1024;
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

}  // namespace

ContextPool::ContextPool(std::size_t count) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t slot = kStackBytes + page;
  mapping_bytes_ = slot * count;
  mapping_ =
      ::mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  auto* base = static_cast<unsigned char*>(mapping_);
  contexts_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Without the guard the pool still works; an overflow would then not be caught. Only a mapping limit refuses it.
    if (::mprotect(base + i * slot, page, PROT_NONE) != 0) {
      ::munmap(mapping_, mapping_bytes_);
      throw std::bad_alloc();
    }
    contexts_.push_back(std::make_unique<Context>(base + i * slot + page, kStackBytes));
  }
}

ContextPool::~ContextPool() {
  contexts_.clear();
#if defined(ASSAY_ASAN)
  __asan_unpoison_memory_region(mapping_, mapping_bytes_);
#endif
  ::munmap(mapping_, mapping_bytes_);
}

}  // namespace assay::host
