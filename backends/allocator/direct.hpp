// SPDX-License-Identifier: Apache-2.0
// DirectAllocator: the policy `direct`, one device allocation per block and nothing kept.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/device_calls.hpp"

namespace assay::allocator {

// The baseline a cache is measured against. A block has exactly the requested bytes; the device's own rounding is not
// seen here. record_stream needs no event: the device's free waits for work that may still use the memory.
class DirectAllocator final : public Allocator {
 public:
  DirectAllocator(const assay_backend& table, assay_device* device) : device_(table, device) {}
  ~DirectAllocator() override;

  [[nodiscard]] std::string_view policy() const override { return "direct"; }
  [[nodiscard]] std::string options() const override { return {}; }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) override;
  Result<void> deallocate(void* pointer) override;
  Result<void> record_stream(void* pointer, assay_stream* stream) override;
  Result<void> empty_cache() override { return {}; }
  Result<void> process_events() override { return {}; }
  [[nodiscard]] Statistics statistics() const override;
  [[nodiscard]] Usage usage() const override;
  void reset_peaks() override;
  void reset_accumulated() override;
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const override;

 private:
  struct Live {
    std::size_t bytes;
    assay_stream* stream;
    Category category;
  };
  [[nodiscard]] Error out_of_memory(std::size_t bytes) const;

  const DeviceCalls device_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Live> live_;
  Statistics statistics_;
};

}  // namespace assay::allocator
