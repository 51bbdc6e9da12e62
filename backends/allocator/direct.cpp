// SPDX-License-Identifier: Apache-2.0
// The direct policy.
#include "backends/allocator/direct.hpp"

#include <algorithm>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {
namespace {

bool is_small(std::size_t bytes) {
  return bytes <= kSmallBytes;
}

}  // namespace

DirectAllocator::~DirectAllocator() {
  for (const auto& [pointer, live] : live_) (void)device_.free(pointer);
}

Result<void*> DirectAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  const std::lock_guard lock(mutex_);
  Result<void*> pointer =
      bytes > kLargestRequestBytes ? Result<void*>(static_cast<void*>(nullptr)) : device_.allocate(bytes);
  if (!pointer) return pointer;
  if (*pointer == nullptr) {
    ++statistics_.num_ooms;
    return out_of_memory(bytes);
  }
  live_.emplace(*pointer, Live{bytes, stream, category});
  ++statistics_.num_device_alloc;
  increase(statistics_.segment, is_small(bytes), 1);
  increase(statistics_.reserved_bytes, is_small(bytes), bytes);
  count_allocation(statistics_, is_small(bytes), bytes, bytes, category);
  return pointer;
}

Result<void> DirectAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) return not_live(pointer, "freed");
  if (auto freed = device_.free(pointer); !freed) return freed;
  const Live live = found->second;
  live_.erase(found);
  ++statistics_.num_device_free;
  decrease(statistics_.segment, is_small(live.bytes), 1);
  decrease(statistics_.reserved_bytes, is_small(live.bytes), live.bytes);
  count_free_request(statistics_, is_small(live.bytes), live.bytes, live.category);
  count_free_completion(statistics_, is_small(live.bytes), live.bytes, live.bytes, live.category);
  return {};
}

Result<void> DirectAllocator::record_stream(void* pointer, assay_stream*) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (live_.count(pointer) == 0) return not_live(pointer, "given a stream");
  return {};
}

Statistics DirectAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

Usage DirectAllocator::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_of(statistics_);
}

void DirectAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  reset_all_peaks(statistics_);
}

void DirectAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  reset_all_accumulated(statistics_);
}

std::vector<SegmentInfo> DirectAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<SegmentInfo> infos;
  for (const auto& [pointer, live] : live_) {
    SegmentInfo info;
    info.address = reinterpret_cast<std::uintptr_t>(pointer);
    info.total_bytes = live.bytes;
    info.stream = live.stream;
    info.small_pool = is_small(live.bytes);
    info.blocks.push_back({info.address, live.bytes, live.bytes, BlockState::active_allocated, live.category});
    infos.push_back(std::move(info));
  }
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return infos;
}

Error DirectAllocator::out_of_memory(std::size_t bytes) const {
  const auto info = device_.memory_info();
  return {ErrorCode::out_of_memory,
          "Out of memory: a request of " + std::to_string(bytes) + " bytes was refused by the device; allocated " +
              std::to_string(statistics_.allocated_bytes[0].current) + " bytes, reserved " +
              std::to_string(statistics_.reserved_bytes[0].current) + " bytes, device free " +
              (info ? std::to_string(info->total_bytes - info->used_bytes) + " bytes" : std::string("unknown")) +
              "; lower the load, free other memory of the device, or raise its budget where it has one."};
}

}  // namespace assay::allocator
