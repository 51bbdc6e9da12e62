// SPDX-License-Identifier: Apache-2.0
// The histogram's classes, and the kinds of calls.
#include "backends/allocator/latency.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace assay::allocator {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kClockReadings = 1000;

std::int64_t between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

}  // namespace

std::size_t LatencyHistogram::class_of(std::uint64_t ns) {
  if (ns < kExact) return static_cast<std::size_t>(ns);
  const auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 5;  // 0 from 16, 1 from 32, ...
  const auto within = static_cast<std::size_t>(ns >> (octave + 1)) - kPerOctave;
  return std::min(kExact + octave * kPerOctave + within, kClasses - 1);
}

std::int64_t LatencyHistogram::upper_end(std::size_t index) {
  if (index < kExact) return static_cast<std::int64_t>(index);
  const std::size_t octave = (index - kExact) / kPerOctave;
  const std::size_t within = (index - kExact) % kPerOctave;
  return static_cast<std::int64_t>(((kPerOctave + within + 1) << (octave + 1)) - 1);
}

void LatencyHistogram::add(std::int64_t ns) {
  const std::int64_t duration = std::max<std::int64_t>(ns, 0);
  ++classes_[class_of(static_cast<std::uint64_t>(duration))];
  ++count_;
  max_ = std::max(max_, duration);
}

std::int64_t LatencyHistogram::percentile(double share) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    seen += classes_[i];
    if (seen >= wanted && seen > 0) return std::min(upper_end(i), max_);
  }
  return max_;
}

TimedAllocator::TimedAllocator(std::unique_ptr<Allocator> inner) : inner_(std::move(inner)) {
  for (int i = 0; i < kClockReadings; ++i) {
    const auto begin = Clock::now();
    const auto end = Clock::now();
    of(CallKind::clock).add(between(begin, end));
  }
}

Result<void*> TimedAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return inner_->allocate(bytes, stream, category);
  const std::lock_guard lock(mutex_);
  const Statistics before = inner_->statistics();
  const auto begin = Clock::now();
  auto pointer = inner_->allocate(bytes, stream, category);
  const auto end = Clock::now();
  if (!pointer) return pointer;
  const Statistics after = inner_->statistics();
  CallKind kind = CallKind::hit;
  if (after.num_device_alloc != before.num_device_alloc || after.num_device_free != before.num_device_free)
    kind = CallKind::miss;
  else if (after.num_splits != before.num_splits)
    kind = CallKind::split;
  of(kind).add(between(begin, end));
  return pointer;
}

Result<void> TimedAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto begin = Clock::now();
  auto freed = inner_->deallocate(pointer);
  const auto end = Clock::now();
  if (!freed) return freed;
  const bool elsewhere = !used_elsewhere_.empty() && used_elsewhere_.erase(pointer) > 0;
  of(elsewhere ? CallKind::cross_stream_free : CallKind::free).add(between(begin, end));
  return freed;
}

Result<void> TimedAllocator::record_stream(void* pointer, assay_stream* stream) {
  const std::lock_guard lock(mutex_);
  auto recorded = inner_->record_stream(pointer, stream);
  if (recorded && pointer != nullptr) used_elsewhere_.insert(pointer);
  return recorded;
}

Latencies TimedAllocator::latencies() const {
  const std::lock_guard lock(mutex_);
  return latencies_;
}

}  // namespace assay::allocator
