// SPDX-License-Identifier: Apache-2.0
// ExpandableAllocator: the policy `expandable`, PyTorch's expandable segments over the device layer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/allocator/splitting.hpp"

namespace assay::allocator {

// One address range of 9/8 of the device's memory per stream and pool. Requests are placed in it by best fit, memory is
// mapped page by page (2 MiB for small blocks, large_segment_size_mb for the others, neither below the device's
// granularity or least_page_mb) at the lowest address with room, and unmapped only when all unused memory goes back:
// whole pages inside free blocks. A free block that can grow into unmapped addresses counts with the size it can grow
// to, so that it is taken last. On a miss: mapping; waiting for all events and unmapping of every unused page, and a
// second try; out of memory. Unmapping waits for the device's work, because the runtime does not.
//
// Statistics as in PyTorch: segment and inactive_split never move, reserved_bytes follow map and unmap.
// num_device_alloc and num_device_free count pages, each of them one device call. Errors: as in Allocator.
// The device must outlive the allocator, whose end waits for the device and returns everything.
class ExpandableAllocator final : public SplittingAllocator {
 public:
  // unsupported, with the reason, where a mapping cannot really be made; usage for options that would have no effect.
  static Result<std::unique_ptr<ExpandableAllocator>> create(const assay_backend& table, assay_device* device,
                                                             const Options& options);
  // Whether none of the options is without effect here.
  [[nodiscard]] static Result<void> check(const Options& options);
  ~ExpandableAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "expandable"; }
  [[nodiscard]] std::size_t page_bytes(bool small_pool) const {
    return small_pool ? sizes_.small_page : sizes_.large_page;
  }

 private:
  struct Sizes {
    std::size_t small_page;
    std::size_t large_page;
    std::size_t range;
    std::size_t allowed;  // kUnlimited without a memory fraction
  };
  ExpandableAllocator(DeviceCalls device, const Options& options, const Sizes& sizes)
      : SplittingAllocator(device, options, sizes.allowed), sizes_(sizes) {}

  [[nodiscard]] Block* take_fit(const Request& request) override;
  [[nodiscard]] bool splits(const Request& request, const Block& block) const override {
    return block.bytes - request.rounded >= kMinBlockBytes;
  }
  // Null where there is no memory. What was mapped before the refusal stays, as a free block.
  [[nodiscard]] Result<Block*> grow(const Request& request) override;
  // Whole pages inside free blocks, and ranges of which nothing is mapped any more.
  Result<void> release(const std::vector<Pool*>& pools) override;
  [[nodiscard]] std::string refused(const Request& request) const override;

  Result<Block*> room_for(const Request& request);
  Result<bool> map_pages(Block& unmapped, std::size_t bytes);
  Result<void> unmap_pages(Block& free);

  const Sizes sizes_;
};

}  // namespace assay::allocator
