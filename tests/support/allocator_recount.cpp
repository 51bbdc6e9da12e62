// SPDX-License-Identifier: Apache-2.0
// Tiling, joining and sums.
#include "tests/support/allocator_recount.hpp"

#include <array>

namespace assay::testing {
namespace {

using allocator::BlockState;
using allocator::Statistics;

class Recount {
 public:
  std::string problem;
  Statistics sums;

  void add(const allocator::SegmentInfo& segment) {
    if (segment.address < end_) problem = "segments overlap";
    end_ = segment.address + segment.total_bytes;
    small_ = segment.small_pool;
    if (!segment.expandable) count(sums.segment, 1);
    count(sums.reserved_bytes, segment.total_bytes);
    std::uintptr_t position = segment.address;
    bool free_before = false;
    for (const auto& block : segment.blocks) {
      if (block.address != position) problem = "blocks do not tile their segment";
      position = block.address + block.bytes;
      const bool free = block.state == BlockState::inactive;
      if (free && free_before) problem = "two free neighbours are not joined";
      free_before = free;
      if (!free) {
        add(block);
      } else if (segment.blocks.size() > 1 && !segment.expandable) {
        count(sums.inactive_split, 1);
        count(sums.inactive_split_bytes, block.bytes);
      }
    }
    if (position != end_) problem = "blocks do not fill their segment";
  }

 private:
  void count(allocator::StatArray& stat, std::size_t amount) const {
    stat[0].current += static_cast<std::int64_t>(amount);
    stat[small_ ? 1 : 2].current += static_cast<std::int64_t>(amount);
  }

  void add(const allocator::BlockInfo& block) {
    if (block.requested_bytes > block.bytes || block.requested_bytes == 0) problem = "a block is not what it was asked";
    auto& category = sums.categories[static_cast<std::size_t>(block.category)];
    count(sums.active, 1);
    count(sums.active_bytes, block.bytes);
    count(sums.requested_bytes, block.requested_bytes);
    category.active_bytes.current += static_cast<std::int64_t>(block.bytes);
    category.requested_bytes.current += static_cast<std::int64_t>(block.requested_bytes);
    if (block.state != BlockState::active_allocated) return;
    count(sums.allocation, 1);
    count(sums.allocated_bytes, block.bytes);
    category.allocated_bytes.current += static_cast<std::int64_t>(block.bytes);
  }

  std::uintptr_t end_ = 0;
  bool small_ = false;
};

struct Named {
  const char* name;
  const allocator::StatArray* counted;
  const allocator::StatArray* sum;
};

}  // namespace

std::string recount(const std::vector<allocator::SegmentInfo>& segments, const Statistics& statistics) {
  Recount walk;
  for (const auto& segment : segments) walk.add(segment);
  if (!walk.problem.empty()) return walk.problem;
  const Statistics& sums = walk.sums;
  const std::array<Named, 9> arrays{
      {{"segment", &statistics.segment, &sums.segment},
       {"reserved_bytes", &statistics.reserved_bytes, &sums.reserved_bytes},
       {"allocation", &statistics.allocation, &sums.allocation},
       {"allocated_bytes", &statistics.allocated_bytes, &sums.allocated_bytes},
       {"active", &statistics.active, &sums.active},
       {"active_bytes", &statistics.active_bytes, &sums.active_bytes},
       {"requested_bytes", &statistics.requested_bytes, &sums.requested_bytes},
       {"inactive_split", &statistics.inactive_split, &sums.inactive_split},
       {"inactive_split_bytes", &statistics.inactive_split_bytes, &sums.inactive_split_bytes}}};
  for (const Named& each : arrays)
    for (std::size_t pool = 0; pool < 3; ++pool)
      if ((*each.counted)[pool].current != (*each.sum)[pool].current)
        return std::string(each.name) + "." + std::string(allocator::kStatPoolNames[pool]) + " is " +
               std::to_string((*each.counted)[pool].current) + ", but the blocks add up to " +
               std::to_string((*each.sum)[pool].current);
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    const auto& counted = statistics.categories[i];
    const auto& sum = sums.categories[i];
    if (counted.allocated_bytes.current != sum.allocated_bytes.current ||
        counted.active_bytes.current != sum.active_bytes.current ||
        counted.requested_bytes.current != sum.requested_bytes.current)
      return "category " + std::string(allocator::kCategoryNames[i]) + " is not what its blocks add up to";
  }
  return {};
}

}  // namespace assay::testing
