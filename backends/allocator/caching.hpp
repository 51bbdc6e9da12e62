// SPDX-License-Identifier: Apache-2.0
// CachingAllocator: the policy `caching`, PyTorch's native rules over the device layer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/allocator/splitting.hpp"

namespace assay::allocator {

// Rules: facts allocators section 2, in the order SplittingAllocator gives. Growth is one device allocation; garbage is
// collected before it where a memory fraction and a threshold are set, and a fitting oversize block is released where
// max_split_size_mb is set.
//
// The device must outlive the allocator, whose end waits for pending frees and returns every segment, live blocks
// included.
class CachingAllocator final : public SplittingAllocator {
 public:
  static Result<std::unique_ptr<CachingAllocator>> create(const assay_backend& table, assay_device* device,
                                                          const Options& options);
  ~CachingAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "caching"; }

  // For replays of a recording that starts in the middle: books a segment obtained elsewhere, with the blocks that are
  // live in it (in address order, state and category as given, the gaps free). The memory is later given back to the
  // device like any other. Its live blocks count as allocated now, its gaps as allocated and freed. Usage when the
  // blocks do not fit the segment.
  Result<void> adopt_segment(const SegmentInfo& segment);
  // For the same: gives one unused segment back to the device. Usage when no segment begins there or one of its blocks
  // is in use.
  Result<void> release_segment(std::uintptr_t address);

 private:
  CachingAllocator(DeviceCalls device, const Options& options, std::size_t allowed_bytes, std::size_t gc_start_bytes)
      : SplittingAllocator(device, options, allowed_bytes), gc_start_bytes_(gc_start_bytes) {}

  [[nodiscard]] Block* take_fit(const Request& request) override {
    return request.pool->free.take_best_fit(options_, request.stream, request.rounded);
  }
  [[nodiscard]] bool splits(const Request& request, const Block& block) const override {
    return should_split(options_, request.pool->small, block.bytes, request.rounded);
  }
  [[nodiscard]] Result<Block*> grow(const Request& request) override;
  Result<void> prepare_growth() override;
  Result<bool> release_fitting(const Request& request) override;
  Result<void> release(const std::vector<Pool*>& pools) override;
  [[nodiscard]] std::string refused(const Request& request) const override;
  Result<void> release_block(Block& whole);

  const std::size_t gc_start_bytes_;  // reserved bytes above which garbage is collected
};

}  // namespace assay::allocator
