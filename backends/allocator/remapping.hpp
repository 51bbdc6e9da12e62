// SPDX-License-Identifier: Apache-2.0
// RemappingAllocator: the policy `remapping`, one growing address range per stream whose idle memory is moved where it
// is missing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/remapping_arena.hpp"

namespace assay::allocator {

// Each stream has an arena of its own: an address range, its books, its statistics and its lock, so that threads on
// different streams share nothing but two atomic numbers. Blocks of every size lie in the one range, placed by best
// fit; blocks of up to kHighEndBytes are cut from the high end of a free piece, the others from its low end, which
// keeps the two kinds apart. The search takes a constant number of steps up to 1 MiB, above it a number that grows with
// the logarithm of the large free pieces, of which memory bounds the number.
//
// A free piece that can grow is taken last. On a miss the range grows behind a free piece by what is missing, in one
// mapping: in whole multiples of kGrowthBytes, from kLargeGrowthBytes on exactly. Where free memory has become more
// than a kFragmentedShare of the active, and the growth would be a new peak, idle mappings inside free pieces are
// unmapped first, after waiting for the stream, and the growth takes their place. On refusal every arena returns what
// it can, after waiting for the device, and the growth is tried again with exactly what is missing; then out of memory.
//
// Frees with foreign streams wait for their events, which are only polled: nothing waits on the way to a hit.
//
// Statistics: all counts are of the large pool; segment and inactive_split do not move (expandable segments). With
// several streams the peaks, except that of reserved_bytes, are sums of the peaks of each, an upper bound; with one
// they are exact. num_device_alloc and num_device_free count mappings and unmappings. Options: none.
// Errors: as in Allocator. The device must outlive the allocator, whose end waits for it and returns everything.
class RemappingAllocator final : public Allocator {
 public:
  // unsupported, with the reason, where a mapping cannot really be made.
  static Result<std::unique_ptr<RemappingAllocator>> create(const assay_backend& table, assay_device* device);
  ~RemappingAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "remapping"; }
  [[nodiscard]] std::string options() const override { return {}; }
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
  [[nodiscard]] Reliability reliability() const override {
    return {true, true, published_count_.load(std::memory_order_acquire) <= 1};
  }

 private:
  static constexpr std::size_t kMostRanges = 4096;  // of the process's life: one a stream, more only when it is full

  // What a call looks for an arena by, apart from the arena: its lock's cache line is another thread's all the time.
  struct Published {
    RemappingArena* arena = nullptr;
    assay_stream* stream = nullptr;
    std::uintptr_t range = 0;
  };

  RemappingAllocator(DeviceCalls device, std::size_t granularity, std::size_t range_bytes)
      : device_(device), shared_{device, granularity, range_bytes} {}

  [[nodiscard]] RemappingArena* known_arena(assay_stream* stream) const;
  Result<RemappingArena*> arena_of(assay_stream* stream);
  [[nodiscard]] RemappingArena* owner_of(const void* pointer) const;
  Result<void*> allocate_after_flush(RemappingArena& arena, std::size_t bytes, Category category);
  Result<void> release_everything();
  template <class Visit>
  void visit_arenas(Visit visit) const;

  const DeviceCalls device_;
  RemappingShared shared_;
  std::mutex growing_;  // held while an arena is added
  std::vector<std::unique_ptr<RemappingArena>> arenas_;
  std::array<Published, kMostRanges> published_{};  // an entry does not change after the count includes it
  std::atomic<std::size_t> published_count_{0};
};

}  // namespace assay::allocator
