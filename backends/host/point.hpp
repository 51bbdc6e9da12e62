// SPDX-License-Identifier: Apache-2.0
// Point: one recorded place in a stream's order, shared by the event, the recording stream and the waiting ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "backends/host/sanitizer.hpp"

namespace assay::host {

// Reached once, by the stream that records it; from then on `time_ns` (steady clock) holds. Counted by hand instead of
// by shared_ptr, whose count orders threads and would hide a missing event from ThreadSanitizer.
class Point {
 public:
  // Called in the stream. What the stream did before happens before whoever sees reached().
  void reach(std::int64_t time_ns) {
    time_ns_.store(time_ns, std::memory_order_relaxed);
    reached_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool reached() const { return reached_.load(std::memory_order_acquire); }
  // Without an order: for a scheduler that only decides what to run next.
  [[nodiscard]] bool reached_unordered() const { return reached_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t time_ns() const { return time_ns_.load(std::memory_order_relaxed); }

 private:
  friend class PointRef;
  std::atomic<std::uint32_t> count_{1};
  std::atomic<bool> reached_{false};
  std::atomic<std::int64_t> time_ns_{0};
};

class PointRef {
 public:
  PointRef() = default;
  static PointRef create() {
    PointRef ref;
    ref.point_ = new Point;
    return ref;
  }
  PointRef(const PointRef& other) : point_(other.point_) {
    if (point_ != nullptr) point_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  PointRef(PointRef&& other) noexcept : point_(std::exchange(other.point_, nullptr)) {}
  PointRef& operator=(PointRef other) noexcept {
    std::swap(point_, other.point_);
    return *this;
  }
  ~PointRef() {
    if (point_ == nullptr || point_->count_.fetch_sub(1, kCountOrder) != 1) return;
    const Unseen unseen;
    delete point_;
  }
  explicit operator bool() const { return point_ != nullptr; }
  Point* operator->() const { return point_; }

 private:
  Point* point_ = nullptr;
};

}  // namespace assay::host
