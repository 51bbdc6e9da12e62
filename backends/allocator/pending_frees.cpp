// SPDX-License-Identifier: Apache-2.0
// Deferred frees by one event per foreign stream (facts: allocators section 2.7).
#include "backends/allocator/pending_frees.hpp"

namespace assay::allocator {

PendingFrees::~PendingFrees() {
  for (auto& [stream, queue] : queues_)
    for (const Entry& entry : queue) device_.destroy_event(entry.event);
  for (assay_event* event : spare_events_) device_.destroy_event(event);
}

Result<assay_event*> PendingFrees::take_event() {
  if (spare_events_.empty()) return device_.create_event();
  assay_event* event = spare_events_.back();
  spare_events_.pop_back();
  return event;
}

Result<void> PendingFrees::free(Books& books, Block& block) {
  const bool used = !block.foreign_streams.empty();
  if (used) {
    if (auto deferred = defer(block); !deferred) return deferred;
  }
  books.request_free(block);
  if (!used) books.complete_free(block);
  return {};
}

Result<void> PendingFrees::defer(Block& block) {
  std::vector<assay_event*> events;
  for (assay_stream* stream : block.foreign_streams) {
    auto event = take_event();
    auto recorded = event ? device_.record(*event, stream) : Result<void>(event.error());
    if (event) events.push_back(*event);
    if (!recorded) {
      spare_events_.insert(spare_events_.end(), events.begin(), events.end());
      return recorded;
    }
  }
  for (std::size_t i = 0; i < events.size(); ++i) queues_[block.foreign_streams[i]].push_back({events[i], &block});
  waiting_ += events.size();
  block.pending_events = static_cast<std::uint32_t>(events.size());
  return {};
}

void PendingFrees::finish_front(std::deque<Entry>& queue) {
  const Entry entry = queue.front();
  queue.pop_front();
  --waiting_;
  spare_events_.push_back(entry.event);
  if (--entry.block->pending_events == 0) complete_(*entry.block);
}

Result<void> PendingFrees::poll() {
  if (empty()) return {};
  for (auto& [stream, queue] : queues_) {
    while (!queue.empty()) {
      auto passed = device_.passed(queue.front().event);
      if (!passed) return passed.error();
      if (!*passed) break;
      finish_front(queue);
    }
  }
  return {};
}

Result<void> PendingFrees::synchronize() {
  for (auto& [stream, queue] : queues_) {
    while (!queue.empty()) {
      if (auto waited = device_.synchronize(queue.front().event); !waited) return waited;
      finish_front(queue);
    }
  }
  return {};
}

}  // namespace assay::allocator
