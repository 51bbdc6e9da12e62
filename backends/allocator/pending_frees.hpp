// SPDX-License-Identifier: Apache-2.0
// PendingFrees: blocks given back while other streams may still use them, and the events that will say when not.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "backends/allocator/books.hpp"
#include "backends/allocator/device_calls.hpp"

namespace assay::allocator {

// Not thread-safe: the policy's lock is held around every call, so that an event is recorded before anyone else can
// see the block. Events are kept for reuse and destroyed with this object.
class PendingFrees {
 public:
  using Complete = std::function<void(Block&)>;

  // `complete` is called once for each deferred block, after the last of its events has passed.
  PendingFrees(const DeviceCalls& device, Complete complete) : device_(device), complete_(std::move(complete)) {}
  ~PendingFrees();
  PendingFrees(const PendingFrees&) = delete;
  PendingFrees& operator=(const PendingFrees&) = delete;

  // Frees a live block: at once where no foreign stream uses it, else deferred. After an Error it is live as before.
  Result<void> free(Books& books, Block& block);
  // Records one event on each of the block's foreign streams, at this moment. All or none: after an Error the block
  // is as it was.
  Result<void> defer(Block& block);
  // Completes what has passed, each stream in its own order; waits for nothing.
  Result<void> poll();
  // Waits for every event. After an Error what has not completed is still pending.
  Result<void> synchronize();

  [[nodiscard]] bool empty() const { return waiting_ == 0; }

 private:
  struct Entry {
    assay_event* event;
    Block* block;
  };
  Result<assay_event*> take_event();
  void finish_front(std::deque<Entry>& queue);

  DeviceCalls device_;
  Complete complete_;
  std::map<assay_stream*, std::deque<Entry>> queues_;
  std::size_t waiting_ = 0;
  std::vector<assay_event*> spare_events_;
};

}  // namespace assay::allocator
