// SPDX-License-Identifier: Apache-2.0
// RemappingArena: the memory of one stream under the policy `remapping`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/allocator/books.hpp"
#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/pending_frees.hpp"
#include "backends/allocator/spin_lock.hpp"

namespace assay::allocator {

// What the arenas of one allocator have in common.
struct RemappingShared {
  DeviceCalls device;
  std::size_t granularity;
  std::size_t range_bytes;
  std::atomic<std::int64_t> reserved{0};
  std::atomic<std::int64_t> reserved_peak{0};

  void move_reserved(std::int64_t amount);
};

// Thread-safe. The range is reserved once, for the arena's life: four times the device's memory, so that addresses
// without memory left behind by remapping do not run out before the memory does.
class alignas(128) RemappingArena {  // no two arenas share a cache line, nor a pair of them
 public:
  // Chosen by replaying recorded transformer traces; the outcome is flat around them (high end 1 to 1.75 MiB, share 12
  // to 24, worth 16 to 64 MiB, large growth 60 to 150 MiB), but not around kGrowthBytes.
  static constexpr std::size_t kGrowthBytes = 20 * kMiB;
  static constexpr std::size_t kLargeGrowthBytes = 300 * kMiB;
  static constexpr std::size_t kHighEndBytes = kMiB;
  static constexpr std::size_t kFragmentedShare = 16;  // one in so many active bytes
  static constexpr std::size_t kWorthMovingBytes = 16 * kMiB;

  RemappingArena(RemappingShared& shared, assay_stream* stream, std::uintptr_t range);
  ~RemappingArena();  // the caller has waited for the device

  // The short ways, which make no device call: null, or false, where allocate or deallocate must decide.
  [[nodiscard]] void* hit(std::size_t bytes, Category category);
  [[nodiscard]] bool give_back(void* pointer);

  // Null where there is no memory. `exactly`: grow by no more than is missing.
  Result<void*> allocate(std::size_t bytes, Category category, bool exactly);
  Result<void> deallocate(void* pointer);
  Result<void> record_stream(void* pointer, assay_stream* stream);
  Result<void> poll();
  Result<void> complete_pending();  // waits for every event
  Result<void> release();           // unmaps what is idle; the caller has waited for the device

  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] Usage usage() const;
  void count(std::int64_t Statistics::*counter);
  void reset_peaks();
  void reset_accumulated();
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const;
  [[nodiscard]] std::size_t largest_free_bytes() const;

 private:
  struct Growth {
    Block* unmapped;
    std::size_t bytes;
  };
  struct Idle {
    Block* block;
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  [[nodiscard]] void* hand_out(Block& block, std::size_t rounded, std::size_t requested, Category category);
  Result<Block*> grow(std::size_t rounded, bool exactly);
  [[nodiscard]] Growth cheapest_growth(std::size_t rounded);
  [[nodiscard]] Idle idle_mappings(Block& free) const;
  Result<void> move_idle_memory(const Growth& growth);
  Result<void> unmap(const Idle& idle);

  RemappingShared& shared_;
  assay_stream* const stream_;
  const std::uintptr_t range_;
  mutable SpinLock lock_;
  Pool pool_;
  Books books_;
  PendingFrees pending_;
  std::map<std::uintptr_t, std::size_t> mappings_;  // each one call of map, unmapped as a whole
};

}  // namespace assay::allocator
