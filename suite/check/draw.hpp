// SPDX-License-Identifier: Apache-2.0
// Random inputs of the kernel checks: the same for a seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/common/storage.hpp"
#include "suite/check/case.hpp"

namespace assay::check {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): full period, no state but the counter.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [low, high).
  float real(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }
  // Uniform in [0, bound).
  std::int32_t index(std::int64_t bound) {
    return static_cast<std::int32_t>(next() % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

// `count` elements of T, uniform in [low, high), rounded to storage.
template <class T>
Buffer drawn(Random& random, std::int64_t count, float low = -2, float high = 2) {
  Buffer buffer{Bytes(static_cast<std::size_t>(count) * sizeof(T)), false};
  for (std::int64_t i = 0; i < count; ++i) {
    T element;
    kernels::put(&element, random.real(low, high));
    std::memcpy(buffer.before.data() + static_cast<std::size_t>(i) * sizeof(T), &element, sizeof(T));
  }
  return buffer;
}

// Indices in [0, bound).
inline Buffer drawn_indices(Random& random, std::int64_t count, std::int64_t bound) {
  Buffer buffer{Bytes(static_cast<std::size_t>(count) * 4), false};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t index = random.index(bound);
    std::memcpy(buffer.before.data() + i * 4, &index, 4);
  }
  return buffer;
}

// Room for `count` elements of T that the kernel must fill.
template <class T>
Buffer output(std::int64_t count) {
  return {Bytes(static_cast<std::size_t>(count) * sizeof(T), kPoison), true};
}

}  // namespace assay::check
