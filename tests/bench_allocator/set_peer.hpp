// SPDX-License-Identifier: Apache-2.0
// SetPeer: the rules of the policy `caching` written the usual way, over std::set and std::unordered_map, as the peer
// of the replay engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

#include "backends/allocator/statistics_moves.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::bench {

// Defaults of every option, any number of streams, no limit of memory, no pending frees. Allocations and frees only.
class SetPeer {
 public:
  ~SetPeer() {
    for (Block* block : small_) delete block;
    for (Block* block : large_) delete block;
    for (auto& [address, block] : live_) delete block;
  }

  void take(const replay::EventChunk& chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const trace::Event& event = chunk.events[i];
      if (event.action == trace::Action::alloc)
        allocate(event.address, static_cast<std::size_t>(event.bytes), event.stream);
      else
        free(event.address);
    }
  }

  [[nodiscard]] const allocator::Statistics& statistics() const { return statistics_; }

 private:
  struct Block {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    std::size_t requested = 0;
    std::uint64_t stream = 0;
    bool small = false;
    bool allocated = false;
    Block* previous = nullptr;
    Block* next = nullptr;
  };
  struct Order {
    bool operator()(const Block* a, const Block* b) const {
      if (a->stream != b->stream) return a->stream < b->stream;
      if (a->bytes != b->bytes) return a->bytes < b->bytes;
      return a->address < b->address;
    }
  };
  using Pool = std::set<Block*, Order>;

  static constexpr std::size_t kMiB = std::size_t{1} << 20;

  void allocate(std::uint64_t recorded, std::size_t bytes, std::uint64_t stream) {
    const std::size_t rounded = bytes < 512 ? 512 : (bytes + 511) / 512 * 512;
    const bool small = rounded <= kMiB;
    Pool& pool = small ? small_ : large_;
    Block key;
    key.stream = stream;
    key.bytes = rounded;
    Block* block = nullptr;
    const auto found = pool.lower_bound(&key);
    if (found != pool.end() && (*found)->stream == stream) {
      block = *found;
      pool.erase(found);
    } else {
      block = new Block;
      block->bytes = small                 ? 2 * kMiB
                     : rounded < 10 * kMiB ? 20 * kMiB
                                           : (rounded + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB;
      block->address = next_address_;
      block->stream = stream;
      block->small = small;
      next_address_ += block->bytes;
      allocator::increase(statistics_.segment, small, 1);
      allocator::increase(statistics_.reserved_bytes, small, block->bytes);
      ++statistics_.num_device_alloc;
    }
    const std::size_t rest = block->bytes - rounded;
    const bool was_split = block->previous != nullptr || block->next != nullptr;
    if (small ? rest >= 512 : rest > kMiB) {
      auto* tail = new Block(*block);
      tail->address += rounded;
      tail->bytes = rest;
      tail->previous = block;
      if (tail->next != nullptr) tail->next->previous = tail;
      block->next = tail;
      block->bytes = rounded;
      pool.insert(tail);
      ++statistics_.num_splits;
      if (was_split) {
        allocator::decrease(statistics_.inactive_split_bytes, small, rounded);
      } else {
        allocator::increase(statistics_.inactive_split_bytes, small, tail->bytes);
        allocator::increase(statistics_.inactive_split, small, 1);
      }
    } else if (was_split) {
      allocator::decrease(statistics_.inactive_split_bytes, small, block->bytes);
      allocator::decrease(statistics_.inactive_split, small, 1);
    }
    block->allocated = true;
    block->requested = bytes;
    allocator::count_allocation(statistics_, small, block->bytes, bytes, allocator::Category::workspace);
    live_[recorded] = block;
  }

  void free(std::uint64_t recorded) {
    const auto found = live_.find(recorded);
    if (found == live_.end()) return;
    Block* block = found->second;
    live_.erase(found);
    block->allocated = false;
    const std::size_t own = block->bytes;
    std::int64_t pieces = 0;
    std::int64_t piece_bytes = 0;
    allocator::count_free_request(statistics_, block->small, own, allocator::Category::workspace);
    Pool& pool = block->small ? small_ : large_;
    if (Block* before = block->previous; before != nullptr && !before->allocated) {
      pool.erase(before);
      block->address = before->address;
      block->bytes += before->bytes;
      --pieces;
      piece_bytes -= static_cast<std::int64_t>(before->bytes);
      block->previous = before->previous;
      if (block->previous != nullptr) block->previous->next = block;
      delete before;
    }
    if (Block* after = block->next; after != nullptr && !after->allocated) {
      pool.erase(after);
      block->bytes += after->bytes;
      --pieces;
      piece_bytes -= static_cast<std::int64_t>(after->bytes);
      block->next = after->next;
      if (block->next != nullptr) block->next->previous = block;
      delete after;
    }
    pool.insert(block);
    if (block->previous != nullptr || block->next != nullptr) {
      ++pieces;
      piece_bytes += static_cast<std::int64_t>(block->bytes);
    }
    change(statistics_.inactive_split, block->small, pieces);
    change(statistics_.inactive_split_bytes, block->small, piece_bytes);
    allocator::count_free_completion(statistics_, block->small, own, block->requested, allocator::Category::workspace);
  }

  static void change(allocator::StatArray& stat, bool small, std::int64_t amount) {
    if (amount > 0) allocator::increase(stat, small, static_cast<std::size_t>(amount));
    if (amount < 0) allocator::decrease(stat, small, static_cast<std::size_t>(-amount));
  }

  Pool small_;
  Pool large_;
  std::unordered_map<std::uint64_t, Block*> live_;
  std::uint64_t next_address_ = 0x100000000000u;
  allocator::Statistics statistics_;
};

}  // namespace assay::bench
