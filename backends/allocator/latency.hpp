// SPDX-License-Identifier: Apache-2.0
// How long each kind of allocator call takes: a fixed-size histogram, and the allocator that fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backends/allocator/allocator.hpp"

namespace assay::allocator {

// Counts durations in classes whose width is at most an eighth of their lower end: exact up to 15 ns, then 8 classes
// for each power of two up to 2^41 ns, half an hour; longer ones count in the last. 2.5 KiB whatever the number of
// calls.
class LatencyHistogram {
 public:
  void add(std::int64_t ns);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  // The upper end of the class in which at least share * count of the durations have been seen, never above max().
  // 0 of an empty histogram. `share` is above 0 and at most 1.
  [[nodiscard]] std::int64_t percentile(double share) const;

 private:
  static constexpr std::size_t kExact = 16;
  static constexpr std::size_t kPerOctave = 8;
  static constexpr std::size_t kClasses = kExact + 37 * kPerOctave;
  [[nodiscard]] static std::size_t class_of(std::uint64_t ns);
  [[nodiscard]] static std::int64_t upper_end(std::size_t index);

  std::array<std::int64_t, kClasses> classes_{};
  std::int64_t count_ = 0;
  std::int64_t max_ = 0;
};

// hit: served by a whole free block; split: by a part of one; miss: the device was called; free; cross_stream_free: of
// a block that another stream used (record_stream); clock: two readings of the clock with nothing between, which is
// part of every other figure.
enum class CallKind : std::uint8_t { hit, split, miss, free, cross_stream_free, clock };
inline constexpr std::array<std::string_view, 6> kCallNames{"hit",  "split", "miss", "free", "cross_stream_free",
                                                            "clock"};
using Latencies = std::array<LatencyHistogram, kCallNames.size()>;

// Passes every call on and times allocate and deallocate, failed calls left out. The statistics are read around each
// allocate to tell its kind, outside the time taken; calls of several threads are served one at a time. That changes
// what a program as a whole takes: for passes that are timed themselves it is not for use.
class TimedAllocator final : public Allocator {
 public:
  explicit TimedAllocator(std::unique_ptr<Allocator> inner);

  [[nodiscard]] std::string_view policy() const override { return inner_->policy(); }
  [[nodiscard]] std::string options() const override { return inner_->options(); }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) override;
  Result<void> deallocate(void* pointer) override;
  Result<void> record_stream(void* pointer, assay_stream* stream) override;
  Result<void> empty_cache() override { return inner_->empty_cache(); }
  Result<void> process_events() override { return inner_->process_events(); }
  [[nodiscard]] Statistics statistics() const override { return inner_->statistics(); }
  void reset_peaks() override { inner_->reset_peaks(); }
  void reset_accumulated() override { inner_->reset_accumulated(); }
  [[nodiscard]] Usage usage() const override { return inner_->usage(); }
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const override { return inner_->snapshot(); }
  Result<void> begin_pool(MempoolId id, std::function<bool(assay_stream*)> uses) override {
    return inner_->begin_pool(id, std::move(uses));
  }
  Result<void> end_pool(MempoolId id) override { return inner_->end_pool(id); }
  Result<void> release_pool(MempoolId id) override { return inner_->release_pool(id); }
  [[nodiscard]] Reliability reliability() const override { return inner_->reliability(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return inner_->notes(); }

  // Of every call since the beginning.
  [[nodiscard]] Latencies latencies() const;

 private:
  LatencyHistogram& of(CallKind kind) { return latencies_[static_cast<std::size_t>(kind)]; }

  std::unique_ptr<Allocator> inner_;
  mutable std::mutex mutex_;
  std::unordered_set<void*> used_elsewhere_;  // live blocks given to record_stream
  Latencies latencies_;
};

}  // namespace assay::allocator
