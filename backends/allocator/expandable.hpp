// SPDX-License-Identifier: Apache-2.0
// ExpandableAllocator: the policy `expandable`, PyTorch's expandable segments over the device layer.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/books.hpp"
#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/pending_frees.hpp"

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
class ExpandableAllocator final : public Allocator {
 public:
  // unsupported, with the reason, where a mapping cannot really be made; usage for options that would have no effect.
  static Result<std::unique_ptr<ExpandableAllocator>> create(const assay_backend& table, assay_device* device,
                                                             const Options& options);
  ~ExpandableAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "expandable"; }
  [[nodiscard]] std::string options() const override { return print_options(options_); }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) override;
  Result<void> deallocate(void* pointer) override;
  Result<void> record_stream(void* pointer, assay_stream* stream) override;
  Result<void> empty_cache() override;
  Result<void> process_events() override;
  [[nodiscard]] Statistics statistics() const override;
  [[nodiscard]] Usage usage() const override;
  void reset_peaks() override;
  void reset_accumulated() override;
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const override;

  [[nodiscard]] std::size_t page_bytes(bool small_pool) const { return small_pool ? small_page_ : large_page_; }

 private:
  struct Request {
    std::size_t bytes;
    std::size_t rounded;
    assay_stream* stream;
    Pool* pool;
  };
  struct Sizes {
    std::size_t small_page;
    std::size_t large_page;
    std::size_t range;
    std::size_t allowed;  // kUnlimited without a memory fraction
  };
  ExpandableAllocator(DeviceCalls device, const Options& options, const Sizes& sizes);

  [[nodiscard]] Block* take_fit(const Request& request);
  Result<Block*> obtain(const Request& request);
  Result<Block*> grow(const Request& request);
  Result<Block*> room_for(const Request& request);
  Result<bool> map_pages(Block& unmapped, std::size_t bytes);
  Result<void> release_everything();
  Result<void> unmap_pages(Block& free);
  [[nodiscard]] Error out_of_memory(const Request& request) const;

  const DeviceCalls device_;
  const Options options_;
  const std::size_t small_page_;
  const std::size_t large_page_;
  const std::size_t range_bytes_;
  const std::size_t allowed_bytes_;

  mutable std::mutex mutex_;
  Pool small_;
  Pool large_;
  Books books_;
  PendingFrees pending_;
};

}  // namespace assay::allocator
