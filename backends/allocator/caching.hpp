// SPDX-License-Identifier: Apache-2.0
// CachingAllocator: the policy `caching`, PyTorch's native rules over the device layer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

// Rules: facts allocators section 2. On a miss, in this order: garbage collection (where a memory fraction and a
// threshold are set), a device allocation, release of a fitting oversize block (where max_split_size_mb is set) and a
// second try, waiting for all events and release of every unused segment and a last try, out of memory.
//
// Where it departs from PyTorch on purpose: while a private pool is being filled (a graph capture) no memory is given
// back to the device, neither by empty_cache, which is then ErrorCode::usage, nor on the way to out of memory.
//
// Errors: as in Allocator. A failed deallocate leaves the block live; a failed release leaves the segment cached.
// The device must outlive the allocator, whose end waits for pending frees and returns every segment, live blocks
// included.
class CachingAllocator final : public Allocator {
 public:
  static Result<std::unique_ptr<CachingAllocator>> create(const assay_backend& table, assay_device* device,
                                                          const Options& options);
  ~CachingAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "caching"; }
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

  // Private pools, for graph capture. Between begin and end every request on a stream that `uses` accepts is served
  // from pool `id` (not 0), frees with foreign streams are held back unrecorded, and no memory returns to the device.
  // `uses` is called with the allocator's lock held and must not call it. A second begin of an ended pool shares it.
  // Errors: usage for id 0, a pool already begun, or one not begun.
  Result<void> begin_pool(std::uint64_t id, std::function<bool(assay_stream*)> uses);
  Result<void> end_pool(std::uint64_t id);
  // Gives up one begin_pool. After the last one the pool's unused segments may be returned to the device.
  Result<void> release_pool(std::uint64_t id);

  // For replays of a recording that starts in the middle: books a segment obtained elsewhere, with the blocks that are
  // live in it (in address order, state and category as given, the gaps free). The memory is later given back to the
  // device like any other. Its live blocks count as allocated now, its gaps as allocated and freed. Usage when the
  // blocks do not fit the segment.
  Result<void> adopt_segment(const SegmentInfo& segment);

 private:
  struct PrivatePool {
    Pool small;
    Pool large;
    std::uint32_t users = 1;
  };
  struct Underway {
    std::uint64_t id;
    std::function<bool(assay_stream*)> uses;
  };
  struct Request {
    std::size_t bytes;    // as asked for
    std::size_t rounded;  // of the block
    std::size_t segment;  // of a new segment
    assay_stream* stream;
    Pool* pool;
  };

  CachingAllocator(DeviceCalls device, const Options& options, std::size_t allowed_bytes, std::size_t gc_start_bytes);

  Pool& pool_for(std::size_t rounded, assay_stream* stream);
  Pool& pool_of(std::uint64_t id, bool small);
  // Completes the frees whose streams have passed; does nothing while a private pool is being filled.
  Result<void> settle();
  void complete(Block& block) { books_.complete_free(block); }

  // The miss path. A null block means that there is no memory.
  Result<Block*> obtain(const Request& request);
  Result<Block*> device_segment(const Request& request);
  Result<void> collect_garbage();
  Result<bool> release_fitting(const Request& request);
  Result<void> release_everything();
  Result<void> release_unsplit(Pool& pool);
  Result<void> release_block(Block& whole);
  Result<void> defer_held_back();
  [[nodiscard]] Error out_of_memory(const Request& request) const;

  const DeviceCalls device_;
  const Options options_;
  const std::size_t allowed_bytes_;   // kUnlimited without a memory fraction
  const std::size_t gc_start_bytes_;  // reserved bytes above which garbage is collected

  mutable std::mutex mutex_;
  Pool small_;
  Pool large_;
  std::map<std::uint64_t, PrivatePool> private_pools_;
  std::vector<Underway> underway_;
  std::vector<Block*> held_back_;  // freed during a capture, their events not yet recorded
  Books books_;
  PendingFrees pending_;
};

}  // namespace assay::allocator
