// SPDX-License-Identifier: Apache-2.0
// Pool: a small stream-ordered pool, the host's counterpart of a runtime's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "backends/host/lane.hpp"
#include "backends/host/memory.hpp"
#include "backends/host/point.hpp"

namespace assay::host {

// Whole blocks, neither split nor joined: the smallest free block that holds the request and is at most an eighth
// larger is reused, at once on the lane it was freed on, on another lane when its work is done or, where reuse by
// internal dependencies is allowed, behind a wait; events the program itself records are not followed. Otherwise a new
// block of whole pages comes from the device, on the allocator's account. What is free and done beyond the release
// threshold goes back when the device, a stream or an event is waited for. Thread-safe.
class Pool {
 public:
  Pool(Memory& memory, Scheduler& scheduler) : memory_(memory), scheduler_(scheduler) {}
  // Waits for nothing: the caller has drained the lanes that used it.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  assay_status allocate(std::size_t bytes, Lane& lane, void** out);
  assay_status free(void* pointer, Lane& lane);
  // Gives back free blocks whose work is done until at most `keep_bytes` stay reserved, or no such block is left.
  assay_status trim(std::uint64_t keep_bytes);
  // trim() to the release threshold, after something was waited for.
  void after_waiting();
  assay_status get(std::int32_t attribute, std::uint64_t* out) const;
  assay_status set(std::int32_t attribute, std::uint64_t value);

 private:
  struct FreeBlock {
    void* memory;
    std::size_t bytes;
    std::uint64_t lane_id;
    PointRef freed;  // reached when the freeing stream has passed the free
  };

  [[nodiscard]] std::vector<FreeBlock>::iterator find(std::size_t bytes, std::uint64_t lane_id);
  void trim_locked(std::uint64_t keep_bytes);
  void count_used(std::int64_t change);
  [[nodiscard]] static bool is_reuse_flag(std::int32_t attribute);

  Memory& memory_;
  Scheduler& scheduler_;
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> used_;
  std::vector<FreeBlock> free_;
  std::uint64_t threshold_ = 0;
  std::uint64_t reserved_ = 0, reserved_high_ = 0;
  std::uint64_t used_bytes_ = 0, used_high_ = 0;
  std::uint64_t opportunistic_ = 1, internal_dependencies_ = 1;
};

}  // namespace assay::host
