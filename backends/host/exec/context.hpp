// SPDX-License-Identifier: Apache-2.0
// Contexts: suspended computations on stacks of their own, switched by Boost.Context, known to the sanitizers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace assay::host {

// A computation that can be suspended. Everything happens on the thread that made it: a context never migrates.
class Context {
 public:
  using Body = void (*)(void* argument);

  // Memory of `stack_bytes` from `stack` up belongs to the context until it is destroyed.
  Context(unsigned char* stack, std::size_t stack_bytes);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Prepares to run body(argument); whatever ran here before is forgotten, finished or not. The body must not throw.
  void start(Body body, void* argument);
  // Runs until the computation suspends itself or finishes. Called by the scheduler.
  void resume();
  // Returns control to whoever resumed. Called inside the computation.
  void suspend();
  [[nodiscard]] bool finished() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Stacks for `count` contexts in one mapping, a guard page below each.
class ContextPool {
 public:
  // Throws std::bad_alloc when the stacks cannot be mapped.
  explicit ContextPool(std::size_t count);
  ~ContextPool();
  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;

  [[nodiscard]] std::size_t size() const { return contexts_.size(); }
  [[nodiscard]] Context& operator[](std::size_t index) { return *contexts_[index]; }

 private:
  void* mapping_;
  std::size_t mapping_bytes_;
  std::vector<std::unique_ptr<Context>> contexts_;
};

}  // namespace assay::host
