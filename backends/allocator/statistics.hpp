// SPDX-License-Identifier: Apache-2.0
// The statistics every allocator policy keeps, under PyTorch's names (facts: allocators section 2.8).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::allocator {

// What an allocation is for. The statistics exist per category too.
enum class Category : std::uint8_t { weights, inputs, kv, activation, workspace, output };
inline constexpr std::size_t kCategoryCount = 6;
inline constexpr std::array<std::string_view, kCategoryCount> kCategoryNames{"weights",    "inputs",    "kv",
                                                                             "activation", "workspace", "output"};

// One statistic. increase adds to current and allocated and lifts peak; decrease subtracts and adds to freed.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;

  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }  // a reset frees nothing: what is live stays in the peak
  void reset_accumulated() { allocated = freed = 0; }
  bool operator==(const Stat&) const = default;
};

// all, small_pool, large_pool.
enum class StatPool : std::uint8_t { all, small_pool, large_pool };
inline constexpr std::array<std::string_view, 3> kStatPoolNames{"all", "small_pool", "large_pool"};
using StatArray = std::array<Stat, 3>;

// Of one category; bytes as in the totals of the same name.
struct CategoryStatistics {
  Stat allocated_bytes;
  Stat active_bytes;
  Stat requested_bytes;
  bool operator==(const CategoryStatistics&) const = default;
};

struct Statistics {
  StatArray allocation;       // count, + at alloc, - at free()
  StatArray segment;          // count of device allocations
  StatArray active;           // count, - when the free completes
  StatArray inactive_split;   // count of free pieces of partly used segments
  StatArray allocated_bytes;  // block sizes: rounded, unsplit slack included
  StatArray reserved_bytes;
  StatArray active_bytes;  // - when the free completes
  StatArray inactive_split_bytes;
  StatArray requested_bytes;  // user bytes, - when the free completes
  Stat oversize_allocations;
  Stat oversize_segments;
  std::int64_t num_alloc_retries = 0;  // device allocations tried again after a full flush
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
  std::int64_t num_splits = 0;       // allocations whose block was cut from a larger one; PyTorch has no such counter
  std::int64_t max_split_size = -1;  // bytes, -1 unlimited
  std::array<CategoryStatistics, kCategoryCount> categories;
  bool operator==(const Statistics&) const = default;
};

}  // namespace assay::allocator
