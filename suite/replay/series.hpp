// SPDX-License-Identifier: Apache-2.0
// Series: memory over the events of a replay in a bounded number of points that keep every peak.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/allocator/allocator.hpp"

namespace assay::replay {

// The largest values since the point before, and the last event they cover.
struct SeriesPoint {
  std::uint64_t event = 0;
  std::int64_t time_us = -1;
  std::size_t requested_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t reserved_bytes = 0;
};

// At most kMostPoints points; where more would be needed, two neighbours become one, so that each covers equally many
// events.
class Series {
 public:
  static constexpr std::size_t kMostPoints = 2048;

  void add(std::uint64_t event, std::int64_t time_us, const allocator::Usage& usage) {
    if (filled_ == 0) {
      if (points_.size() == kMostPoints) halve();
      points_.push_back({});
    }
    SeriesPoint& point = points_.back();
    point.event = event;
    point.time_us = time_us;
    point.requested_bytes = std::max(point.requested_bytes, usage.requested_bytes);
    point.active_bytes = std::max(point.active_bytes, usage.active_bytes);
    point.reserved_bytes = std::max(point.reserved_bytes, usage.reserved_bytes);
    if (++filled_ == width_) filled_ = 0;
  }

  // An event that lowered everything, for a point that has a higher one already.
  [[nodiscard]] bool can_pass() const { return filled_ != 0; }
  void pass(std::uint64_t event, std::int64_t time_us) {
    points_.back().event = event;
    points_.back().time_us = time_us;
    if (++filled_ == width_) filled_ = 0;
  }

  [[nodiscard]] const std::vector<SeriesPoint>& points() const { return points_; }
  [[nodiscard]] std::uint64_t events_per_point() const { return width_; }

 private:
  void halve() {
    for (std::size_t i = 0; i < points_.size() / 2; ++i) {
      const SeriesPoint& first = points_[2 * i];
      SeriesPoint second = points_[2 * i + 1];
      second.requested_bytes = std::max(first.requested_bytes, second.requested_bytes);
      second.active_bytes = std::max(first.active_bytes, second.active_bytes);
      second.reserved_bytes = std::max(first.reserved_bytes, second.reserved_bytes);
      points_[i] = second;
    }
    points_.resize(points_.size() / 2);
    width_ *= 2;
  }

  std::vector<SeriesPoint> points_;
  std::uint64_t width_ = 1;   // events a point covers
  std::uint64_t filled_ = 0;  // of the last point; 0: it is full
};

}  // namespace assay::replay
