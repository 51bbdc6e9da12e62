// SPDX-License-Identifier: Apache-2.0
// The pool's blocks: reuse in stream order, release, and what it counts.
#include "backends/host/pool.hpp"

#include <algorithm>
#include <cstdint>

#include "backends/host/status.hpp"
#include "backends/host/system.hpp"

namespace assay::host {

Pool::~Pool() {
  for (const auto& [memory, bytes] : used_) static_cast<void>(memory_.release(memory, Memory::Kind::pooled));
  for (const FreeBlock& block : free_) static_cast<void>(memory_.release(block.memory, Memory::Kind::pooled));
}

// Under the lock: the best free block, one of this lane before one that must be waited for.
std::vector<Pool::FreeBlock>::iterator Pool::find(std::size_t bytes, std::uint64_t lane_id) {
  const auto usable = [&](const FreeBlock& block) {
    if (block.lane_id == lane_id) return true;
    if (opportunistic_ != 0 && block.freed->reached()) return true;
    return internal_dependencies_ != 0;
  };
  auto best = free_.end();
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->bytes < bytes || block->bytes - bytes > bytes / 8 || !usable(*block)) continue;
    const bool better = best == free_.end() || block->bytes < best->bytes ||
                        (block->bytes == best->bytes && block->lane_id == lane_id && best->lane_id != lane_id);
    if (better) best = block;
  }
  return best;
}

assay_status Pool::allocate(std::size_t bytes, Lane& lane, void** out) {
  const std::uint64_t lane_id = lane.id();
  const std::size_t page = page_bytes();
  const std::size_t whole = bytes > SIZE_MAX - page ? bytes : (bytes + page - 1) / page * page;
  const std::lock_guard lock(mutex_);
  if (const auto found = find(whole, lane_id); found != free_.end()) {
    if (found->lane_id != lane_id)
      scheduler_.submit(
          lane, [] {}, found->freed);
    *out = found->memory;
    used_.emplace(found->memory, found->bytes);
    count_used(static_cast<std::int64_t>(found->bytes));
    free_.erase(found);
    return ASSAY_OK;
  }
  auto status = memory_.allocate(whole, ASSAY_OWNER_ALLOCATOR, out, Memory::Kind::pooled);
  if (status == ASSAY_OUT_OF_MEMORY && !free_.empty()) {
    trim_locked(0);
    status = memory_.allocate(whole, ASSAY_OWNER_ALLOCATOR, out, Memory::Kind::pooled);
  }
  if (status != ASSAY_OK) return status;
  used_.emplace(*out, whole);
  reserved_ += whole;
  reserved_high_ = std::max(reserved_high_, reserved_);
  count_used(static_cast<std::int64_t>(whole));
  return ASSAY_OK;
}

assay_status Pool::free(void* pointer, Lane& lane) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(pointer);
  if (found == used_.end())
    return fail(ASSAY_INVALID_VALUE, "pool_free: %p is not live memory of this pool; free each block once", pointer);
  PointRef freed = PointRef::create();
  free_.push_back({pointer, found->second, lane.id(), freed});
  scheduler_.submit(lane, [freed] { freed->reach(0); });
  count_used(-static_cast<std::int64_t>(found->second));
  used_.erase(found);
  return ASSAY_OK;
}

assay_status Pool::trim(std::uint64_t keep_bytes) {
  const std::lock_guard lock(mutex_);
  trim_locked(keep_bytes);
  return ASSAY_OK;
}

void Pool::after_waiting() {
  const std::lock_guard lock(mutex_);
  trim_locked(threshold_);
}

void Pool::trim_locked(std::uint64_t keep_bytes) {
  for (auto block = free_.begin(); block != free_.end() && reserved_ > keep_bytes;) {
    if (!block->freed->reached() || memory_.release(block->memory, Memory::Kind::pooled) != ASSAY_OK) {
      ++block;
      continue;
    }
    reserved_ -= block->bytes;
    block = free_.erase(block);
  }
}

void Pool::count_used(std::int64_t change) {
  used_bytes_ += static_cast<std::uint64_t>(change);
  used_high_ = std::max(used_high_, used_bytes_);
}

bool Pool::is_reuse_flag(std::int32_t attribute) {
  return attribute == ASSAY_POOL_REUSE_FOLLOW_EVENT || attribute == ASSAY_POOL_REUSE_OPPORTUNISTIC ||
         attribute == ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES;
}

assay_status Pool::get(std::int32_t attribute, std::uint64_t* out) const {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case ASSAY_POOL_RELEASE_THRESHOLD:
      *out = threshold_;
      return ASSAY_OK;
    case ASSAY_POOL_RESERVED_CURRENT:
      *out = reserved_;
      return ASSAY_OK;
    case ASSAY_POOL_RESERVED_HIGH:
      *out = reserved_high_;
      return ASSAY_OK;
    case ASSAY_POOL_USED_CURRENT:
      *out = used_bytes_;
      return ASSAY_OK;
    case ASSAY_POOL_USED_HIGH:
      *out = used_high_;
      return ASSAY_OK;
    case ASSAY_POOL_REUSE_FOLLOW_EVENT:
      *out = 0;
      return ASSAY_OK;
    case ASSAY_POOL_REUSE_OPPORTUNISTIC:
      *out = opportunistic_;
      return ASSAY_OK;
    case ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES:
      *out = internal_dependencies_;
      return ASSAY_OK;
    default:
      return fail(ASSAY_INVALID_VALUE, "pool_get: %d is no attribute; see ASSAY_POOL_*", attribute);
  }
}

assay_status Pool::set(std::int32_t attribute, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  const bool high = attribute == ASSAY_POOL_RESERVED_HIGH || attribute == ASSAY_POOL_USED_HIGH;
  if ((high && value != 0) || (is_reuse_flag(attribute) && value > 1))
    return fail(ASSAY_INVALID_VALUE,
                "pool_set: attribute %d does not take the value %llu; a peak takes 0, a switch 0 or 1", attribute,
                static_cast<unsigned long long>(value));
  switch (attribute) {
    case ASSAY_POOL_RELEASE_THRESHOLD:
      threshold_ = value;
      return ASSAY_OK;
    case ASSAY_POOL_RESERVED_HIGH:
      reserved_high_ = reserved_;
      return ASSAY_OK;
    case ASSAY_POOL_USED_HIGH:
      used_high_ = used_bytes_;
      return ASSAY_OK;
    case ASSAY_POOL_REUSE_FOLLOW_EVENT:
      if (value == 0) return ASSAY_OK;
      return fail(ASSAY_UNSUPPORTED, "pool_set: the host's pool does not follow events; leave the switch at 0");
    case ASSAY_POOL_REUSE_OPPORTUNISTIC:
      opportunistic_ = value;
      return ASSAY_OK;
    case ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES:
      internal_dependencies_ = value;
      return ASSAY_OK;
    default:
      return fail(ASSAY_INVALID_VALUE, "pool_set: attribute %d is unknown or read-only; see ASSAY_POOL_*", attribute);
  }
}

}  // namespace assay::host
