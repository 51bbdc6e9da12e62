// SPDX-License-Identifier: Apache-2.0
// NativeAllocator: the policy `native`, the runtime's own stream-ordered pool.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/device_calls.hpp"
#include "backends/allocator/native_pool.hpp"

namespace assay::allocator {

// Before its first use the pool's release threshold is set, read back and tried, and canaries are written and read back
// on two streams; a runtime that fails the canaries is refused. A block that other streams used is freed on a stream of
// the allocator's own that waits for all of them and for the block's own stream, so that nobody else waits. When the
// runtime has no memory the device is waited for, the pool trimmed, and the request tried once more.
//
// Statistics: requested and allocated bytes are kept here and are equal; a free is complete as soon as it is asked for,
// because the runtime orders it, so that active is allocated. reserved_bytes are the runtime's words; its peak is an
// upper bound (high-water marks mean different things on each vendor). Segments, split pieces and device calls are not
// known and do not move. The snapshot shows each live block as a range of its own, and what the runtime holds beyond
// them as one free piece at address 0. All counts are of the large pool.
// Options: release_threshold_mb (default: everything is kept). Errors: as in Allocator.
// The device must outlive the allocator, whose end waits for the device and frees every block.
class NativeAllocator final : public Allocator {
 public:
  // unsupported where there is no such pool, or one that does not keep what was written; the sentence says which.
  static Result<std::unique_ptr<NativeAllocator>> create(const assay_backend& table, assay_device* device,
                                                         std::string_view options);
  [[nodiscard]] static Result<void> check(std::string_view options);
  ~NativeAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "native"; }
  [[nodiscard]] std::string options() const override;
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) override;
  Result<void> deallocate(void* pointer) override;
  Result<void> record_stream(void* pointer, assay_stream* stream) override;
  Result<void> empty_cache() override;
  Result<void> process_events() override { return {}; }
  [[nodiscard]] Statistics statistics() const override;
  void reset_peaks() override;
  void reset_accumulated() override;
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const override;
  [[nodiscard]] Reliability reliability() const override { return {false, false, true}; }
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  struct Live {
    std::size_t bytes;
    assay_stream* stream;
    Category category;
    std::vector<assay_stream*> foreign;
  };
  NativeAllocator(DeviceCalls device, NativePool pool, assay_stream* joining, assay_event* event, PoolFindings findings)
      : device_(device), pool_(std::move(pool)), joining_(joining), event_(event), findings_(std::move(findings)) {}

  Result<void> free_after(void* pointer, const Live& live);
  Result<void> trim();
  void read_reserved() const;
  [[nodiscard]] Error refused(std::size_t bytes) const;

  const DeviceCalls device_;
  const NativePool pool_;
  assay_stream* const joining_;  // waits for every stream that used a block, and frees it
  assay_event* const event_;
  const PoolFindings findings_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Live> live_;
  mutable Statistics statistics_;  // reserved_bytes as last read
};

}  // namespace assay::allocator
