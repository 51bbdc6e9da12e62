// SPDX-License-Identifier: Apache-2.0
// RecordingAllocator: passes every call on and tells what happened, as the events of an allocation trace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "suite/trace/trace.hpp"
#include "suite/trace/writer.hpp"

namespace assay::measure {

// Free bytes of the device, -1 where they cannot be read.
using DeviceFree = std::function<std::int64_t()>;

struct RecordingParts {
  std::unique_ptr<trace::TraceWriter> writer;  // null: no trace is written
  std::size_t history = 0;                     // most events kept for a snapshot, the newest; 0: none
  DeviceFree device_free;
};

// Streams are numbered from 1 as they appear (0 is the null stream); times are microseconds of the system's clock. A
// free is one event in the written trace, unless another stream uses the block: then it is requested and completed, the
// latter found by looking at the blocks after each later call. With a history the segments that came and went are found
// the same way, whenever the statistics show a call of the device. Calls of several threads are served one at a time,
// so that the order told is the order that was.
class RecordingAllocator final : public allocator::Allocator {
 public:
  RecordingAllocator(std::unique_ptr<allocator::Allocator> inner, RecordingParts parts);
  // Pending frees are told as completed: their blocks are.
  ~RecordingAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return inner_->policy(); }
  [[nodiscard]] std::string options() const override { return inner_->options(); }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, allocator::Category category) override;
  Result<void> deallocate(void* pointer) override;
  Result<void> record_stream(void* pointer, assay_stream* stream) override;
  Result<void> empty_cache() override;
  Result<void> process_events() override;
  Result<void> begin_pool(allocator::MempoolId id, std::function<bool(assay_stream*)> uses) override {
    return inner_->begin_pool(id, std::move(uses));
  }
  Result<void> end_pool(allocator::MempoolId id) override { return inner_->end_pool(id); }
  Result<void> release_pool(allocator::MempoolId id) override { return inner_->release_pool(id); }
  [[nodiscard]] allocator::Reliability reliability() const override { return inner_->reliability(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return inner_->notes(); }
  [[nodiscard]] allocator::Statistics statistics() const override { return inner_->statistics(); }
  void reset_peaks() override { inner_->reset_peaks(); }
  void reset_accumulated() override { inner_->reset_accumulated(); }
  [[nodiscard]] allocator::Usage usage() const override { return inner_->usage(); }
  [[nodiscard]] std::vector<allocator::SegmentInfo> snapshot() const override { return inner_->snapshot(); }

  // Puts what is recorded so far on disk. The first failure of writing since the beginning, if any: no call of the
  // allocator fails for it.
  Result<void> flush();
  // The snapshot in PyTorch's shape, with the events of the history.
  [[nodiscard]] std::string snapshot_text();

 private:
  struct Live {
    std::int64_t bytes = 0;
    std::uint64_t stream = 0;
    std::int8_t category = -1;
    bool used_elsewhere = false;
  };
  struct Range {
    std::int64_t bytes = 0;
    std::uint64_t stream = 0;
    bool expandable = false;
    bool operator==(const Range&) const = default;
  };

  [[nodiscard]] std::uint64_t number_of(const assay_stream* stream);
  void tell(trace::Action action, std::uint64_t address, const Live& block, bool for_trace, bool for_history);
  void tell_segment(trace::Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream);
  void settle();
  void look_at_segments();
  void look_at_pending();

  std::unique_ptr<allocator::Allocator> inner_;
  RecordingParts parts_;
  std::mutex mutex_;
  Result<void> trouble_;
  std::unordered_map<const assay_stream*, std::uint64_t> streams_;
  std::unordered_map<std::uint64_t, Live> live_;
  std::map<std::uint64_t, Live> pending_;
  std::map<std::uint64_t, Range> ranges_;
  std::int64_t device_calls_ = 0;
  std::deque<trace::Event> history_;
};

}  // namespace assay::measure
