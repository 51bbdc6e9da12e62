// SPDX-License-Identifier: Apache-2.0
// SplittingAllocator: what the policies `caching` and `expandable` have in common, PyTorch's order of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/books.hpp"
#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/optional_lock.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/pending_frees.hpp"

namespace assay::allocator {

// One lock, books of blocks in a small and a large pool (and a pair of them per private pool), frees deferred by
// events. An allocation settles frees whose events have passed, takes the best fit of its stream and splits it; on a
// miss it prepares growth, grows, releases what fits and grows again, waits for all events, returns every unused piece
// of memory to the device and grows a last time, and is out of memory then (facts: allocators section 2.6). A policy
// says how memory is searched, obtained and given back.
//
// Where it departs from PyTorch on purpose: while a private pool is being filled (a graph capture) no memory is given
// back to the device, neither by empty_cache, which is then ErrorCode::usage, nor on the way to out of memory.
//
// Errors: as in Allocator. A failed deallocate leaves the block live; a failed release leaves the memory cached.
class SplittingAllocator : public Allocator {
 public:
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

  // For an owner that calls from one thread only, for as long as the allocator lives: no call locks any more.
  void use_one_thread() { mutex_.turn_off(); }

  Result<void> begin_pool(MempoolId id, std::function<bool(assay_stream*)> uses) override;
  Result<void> end_pool(MempoolId id) override;
  Result<void> release_pool(MempoolId id) override;

 protected:
  struct Request {
    std::size_t bytes;    // as asked for
    std::size_t rounded;  // of the block
    assay_stream* stream;
    Pool* pool;
  };

  // `allowed_bytes`: what the allocator may hold, kUnlimited without a memory fraction.
  SplittingAllocator(DeviceCalls device, const Options& options, std::size_t allowed_bytes);

  // What a policy decides. All are called with the lock held; a null block means that there is none.
  [[nodiscard]] virtual Block* take_fit(const Request& request) = 0;  // out of its free list
  [[nodiscard]] virtual bool splits(const Request& request, const Block& block) const = 0;
  [[nodiscard]] virtual Result<Block*> grow(const Request& request) = 0;  // in no list; null: no memory
  virtual Result<void> prepare_growth() { return {}; }
  // Whether bytes were released that could hold the request.
  virtual Result<bool> release_fitting(const Request&) { return false; }
  // Gives unused memory of these pools back; no free is pending.
  virtual Result<void> release(const std::vector<Pool*>& pools) = 0;
  // "a segment of N bytes, which the device refused": after "a request needs".
  [[nodiscard]] virtual std::string refused(const Request& request) const = 0;

  // Whether the memory fraction forbids to hold `bytes` more.
  [[nodiscard]] bool forbids(std::size_t bytes) const {
    return allowed_bytes_ != kUnlimited && books_.reserved_bytes() + bytes > allowed_bytes_;
  }
  [[nodiscard]] Pool& pool_of(MempoolId id, bool small);

  const DeviceCalls device_;
  const Options options_;
  const std::size_t allowed_bytes_;
  mutable OptionalLock mutex_;
  Pool small_;
  Pool large_;

 private:
  struct PrivatePool {
    Pool small;
    Pool large;
    std::uint32_t users = 1;
  };
  struct Underway {
    MempoolId id;
    std::function<bool(assay_stream*)> uses;
  };

  [[nodiscard]] Pool& pool_for(std::size_t rounded, assay_stream* stream);
  // Completes the frees whose streams have passed; does nothing while a private pool is being filled.
  Result<void> settle();
  Result<Block*> obtain(const Request& request);
  Result<void> release_everything();
  Result<void> defer_held_back();

  std::map<MempoolId, PrivatePool> private_pools_;
  std::vector<Underway> underway_;
  std::vector<Block*> held_back_;  // freed during a capture, their events not yet recorded

 protected:
  Books books_;  // after the pools, whose free lists it empties
  PendingFrees pending_;
};

}  // namespace assay::allocator
