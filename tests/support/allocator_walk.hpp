// SPDX-License-Identifier: Apache-2.0
// walk_statistics: what the current values of an allocator's statistics must be, computed from its snapshot alone.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "backends/allocator/allocator.hpp"

namespace assay::testing {

struct Walk {
  allocator::StatArray segment, reserved_bytes, allocation, allocated_bytes, active, active_bytes, requested_bytes,
      inactive_split, inactive_split_bytes;
  std::array<allocator::CategoryStatistics, allocator::kCategoryCount> categories;
};

// Also checks that blocks tile each segment and that no two free neighbours were left unjoined.
inline Walk walk_statistics(const std::vector<allocator::SegmentInfo>& segments) {
  using allocator::BlockState;
  Walk walk;
  const auto add = [](allocator::StatArray& stat, bool small, std::size_t amount) {
    stat[0].current += static_cast<std::int64_t>(amount);
    stat[small ? 1 : 2].current += static_cast<std::int64_t>(amount);
  };
  std::uintptr_t last_end = 0;
  for (const auto& segment : segments) {
    EXPECT_GE(segment.address, last_end) << "segments overlap";
    last_end = segment.address + segment.total_bytes;
    if (!segment.expandable) add(walk.segment, segment.small_pool, 1);
    add(walk.reserved_bytes, segment.small_pool, segment.total_bytes);
    std::uintptr_t position = segment.address;
    bool free_before = false;
    for (const auto& block : segment.blocks) {
      EXPECT_EQ(block.address, position) << "blocks do not tile their segment";
      position = block.address + block.bytes;
      auto& category = walk.categories[static_cast<std::size_t>(block.category)];
      if (block.state == BlockState::inactive) {
        EXPECT_FALSE(free_before) << "two free neighbours were not joined";
        if (segment.blocks.size() > 1 && !segment.expandable) {
          add(walk.inactive_split, segment.small_pool, 1);
          add(walk.inactive_split_bytes, segment.small_pool, block.bytes);
        }
      } else {
        EXPECT_LE(block.requested_bytes, block.bytes);
        add(walk.active, segment.small_pool, 1);
        add(walk.active_bytes, segment.small_pool, block.bytes);
        add(walk.requested_bytes, segment.small_pool, block.requested_bytes);
        category.active_bytes.current += static_cast<std::int64_t>(block.bytes);
        category.requested_bytes.current += static_cast<std::int64_t>(block.requested_bytes);
      }
      if (block.state == BlockState::active_allocated) {
        add(walk.allocation, segment.small_pool, 1);
        add(walk.allocated_bytes, segment.small_pool, block.bytes);
        category.allocated_bytes.current += static_cast<std::int64_t>(block.bytes);
      }
      free_before = block.state == BlockState::inactive;
    }
    EXPECT_EQ(position, segment.address + segment.total_bytes) << "blocks do not fill their segment";
  }
  return walk;
}

// Every current value equals the walk, `all` is the sum of both pools, and no peak is below its current value.
inline void expect_consistent(const allocator::Allocator& allocator) {
  const allocator::Statistics statistics = allocator.statistics();
  const Walk walk = walk_statistics(allocator.snapshot());
  const auto same = [](const char* name, const allocator::StatArray& counted, const allocator::StatArray& walked) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(counted[i].current, walked[i].current) << name << '.' << allocator::kStatPoolNames[i];
      EXPECT_GE(counted[i].peak, counted[i].current) << name;
    }
    EXPECT_EQ(counted[0].current, counted[1].current + counted[2].current) << name;
  };
  same("segment", statistics.segment, walk.segment);
  same("reserved_bytes", statistics.reserved_bytes, walk.reserved_bytes);
  same("allocation", statistics.allocation, walk.allocation);
  same("allocated_bytes", statistics.allocated_bytes, walk.allocated_bytes);
  same("active", statistics.active, walk.active);
  same("active_bytes", statistics.active_bytes, walk.active_bytes);
  same("requested_bytes", statistics.requested_bytes, walk.requested_bytes);
  same("inactive_split", statistics.inactive_split, walk.inactive_split);
  same("inactive_split_bytes", statistics.inactive_split_bytes, walk.inactive_split_bytes);
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    const auto& counted = statistics.categories[i];
    EXPECT_EQ(counted.allocated_bytes.current, walk.categories[i].allocated_bytes.current) << i;
    EXPECT_EQ(counted.active_bytes.current, walk.categories[i].active_bytes.current) << i;
    EXPECT_EQ(counted.requested_bytes.current, walk.categories[i].requested_bytes.current) << i;
  }
}

}  // namespace assay::testing
