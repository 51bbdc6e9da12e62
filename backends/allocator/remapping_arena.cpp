// SPDX-License-Identifier: Apache-2.0
// One stream's range: placement, growth and the moving of idle memory.
#include "backends/allocator/remapping_arena.hpp"

#include <algorithm>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {
namespace {

constexpr std::size_t kMostLookedAt = 64;  // places and pieces a miss considers

std::size_t free_bytes(const Block* block) {
  return block != nullptr && block->state == BlockState::inactive && block->mapped ? block->bytes : 0;
}

}  // namespace

void RemappingShared::move_reserved(std::int64_t amount) {
  const std::int64_t now = reserved.fetch_add(amount) + amount;
  std::int64_t peak = reserved_peak.load();
  while (now > peak && !reserved_peak.compare_exchange_weak(peak, now)) {
  }
}

RemappingArena::RemappingArena(RemappingShared& shared, assay_stream* stream, std::uintptr_t range)
    : shared_(shared),
      stream_(stream),
      range_(range),
      books_(TieBreak::address, kUnlimited, true),
      pending_(shared.device, [this](Block& block) { books_.complete_free(block); }) {
  pool_.free.use_bins();
  books_.open_range(range, shared.range_bytes, stream, pool_);
}

RemappingArena::~RemappingArena() {
  for (const SegmentInfo& mapped : books_.snapshot()) (void)shared_.device.unmap(mapped.address, mapped.total_bytes);
  (void)shared_.device.unreserve(range_, shared_.range_bytes);
}

void* RemappingArena::hand_out(Block& block, std::size_t rounded, std::size_t requested, Category category) {
  Block& given = books_.hand_out(block, rounded, requested, category, block.bytes > rounded, rounded <= kHighEndBytes);
  return reinterpret_cast<void*>(given.address);
}

void* RemappingArena::hit(std::size_t bytes, Category category) {
  const std::lock_guard lock(lock_);
  if (!pending_.empty()) return nullptr;
  const std::size_t rounded = round_up(bytes, kMinBlockBytes);
  Block* block = pool_.free.take_smallest(stream_, rounded);
  return block == nullptr ? nullptr : hand_out(*block, rounded, bytes, category);
}

bool RemappingArena::give_back(void* pointer) {
  const std::lock_guard lock(lock_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr || !block->foreign_streams.empty()) return false;
  books_.request_free(*block);
  books_.complete_free(*block);
  return true;
}

Result<void*> RemappingArena::allocate(std::size_t bytes, Category category, bool exactly) {
  const std::lock_guard lock(lock_);
  if (!pending_.empty()) {
    if (auto settled = pending_.poll(); !settled) return settled.error();
  }
  const std::size_t rounded = round_up(bytes, kMinBlockBytes);
  Block* block = pool_.free.take_smallest(stream_, rounded);
  if (block == nullptr) {
    auto grown = grow(rounded, exactly);
    if (!grown) return grown.error();
    if (*grown == nullptr) return static_cast<void*>(nullptr);
    block = *grown;
  }
  return hand_out(*block, rounded, bytes, category);
}

Result<void> RemappingArena::deallocate(void* pointer) {
  const std::lock_guard lock(lock_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "freed");
  return pending_.free(books_, *block);
}

Result<void> RemappingArena::record_stream(void* pointer, assay_stream* stream) {
  const std::lock_guard lock(lock_);
  Block* block = books_.find_live(pointer);
  if (block == nullptr) return not_live(pointer, "given a stream");
  block->used_by(stream);
  return {};
}

// Where the least new memory makes room: behind a free piece, or in the addresses between two.
RemappingArena::Growth RemappingArena::cheapest_growth(std::size_t rounded) {
  Growth best{nullptr, 0};
  const auto consider = [&](Block& unmapped) {
    const std::size_t before = free_bytes(unmapped.previous);
    if (before + unmapped.bytes + free_bytes(unmapped.next) < rounded) return;
    const std::size_t missing =
        std::min(unmapped.bytes, round_up(std::max<std::size_t>(rounded - before, 1), shared_.granularity));
    if (best.unmapped == nullptr || missing < best.bytes) best = {&unmapped, missing};
  };
  auto& unmapped = books_.segments().front().unmapped;
  std::size_t looked_at = 0;
  for (auto& [address, block] : unmapped) {
    if (++looked_at > kMostLookedAt) break;
    consider(*block);
  }
  if (looked_at > kMostLookedAt) consider(*unmapped.rbegin()->second);
  return best;
}

Result<Block*> RemappingArena::grow(std::size_t rounded, bool exactly) {
  Block* none = nullptr;
  if (rounded > shared_.range_bytes) return none;
  Growth growth = cheapest_growth(rounded);
  if (growth.unmapped == nullptr) return none;
  if (!exactly) {
    if (growth.bytes < kLargeGrowthBytes)
      growth.bytes =
          std::min(growth.unmapped->bytes, round_up(growth.bytes, round_up(kGrowthBytes, shared_.granularity)));
    if (auto moved = move_idle_memory(growth); !moved) return moved.error();
  }
  const std::uintptr_t address = growth.unmapped->address;
  auto mapped = shared_.device.map(address, growth.bytes);
  if (!mapped) return mapped.error();
  if (!*mapped) return none;
  mappings_.emplace(address, growth.bytes);
  ++books_.statistics().num_device_alloc;
  shared_.move_reserved(static_cast<std::int64_t>(growth.bytes));
  Block& block = books_.map(*growth.unmapped, growth.bytes);
  pool_.free.erase(block);
  return &block;
}

// The whole mappings inside a free block.
RemappingArena::Idle RemappingArena::idle_mappings(Block& free) const {
  const std::uintptr_t end = free.address + free.bytes;
  Idle idle{&free, 0, 0};
  for (auto mapping = mappings_.lower_bound(free.address);
       mapping != mappings_.end() && mapping->first + mapping->second <= end; ++mapping) {
    if (idle.end == 0) idle.begin = mapping->first;
    idle.end = mapping->first + mapping->second;
  }
  return idle;
}

Result<void> RemappingArena::unmap(const Idle& idle) {
  if (auto unmapped = shared_.device.unmap(idle.begin, idle.end - idle.begin); !unmapped) return unmapped;
  mappings_.erase(mappings_.lower_bound(idle.begin), mappings_.lower_bound(idle.end));
  ++books_.statistics().num_device_free;
  shared_.move_reserved(-static_cast<std::int64_t>(idle.end - idle.begin));
  books_.unmap(*idle.block, idle.begin, idle.end);
  return {};
}

// Before a growth that would be a new peak of a fragmented range: unmaps the smallest idle run that makes up for it, or
// else the largest ones. The pieces beside the growth stay: they are part of its place.
Result<void> RemappingArena::move_idle_memory(const Growth& growth) {
  const auto& reserved = books_.statistics().reserved_bytes[0];
  const std::int64_t after = reserved.current + static_cast<std::int64_t>(growth.bytes);
  const std::int64_t active = books_.statistics().active_bytes[0].current;
  if (after <= reserved.peak || after <= active + active / static_cast<std::int64_t>(kFragmentedShare)) return {};
  std::vector<Idle> found;
  auto& blocks = pool_.free.blocks();
  std::size_t looked_at = 0;
  for (auto next = blocks.end(); next != blocks.begin() && ++looked_at <= kMostLookedAt;) {
    Block& free = *--next;
    if (free.bytes < kWorthMovingBytes) break;
    if (&free == growth.unmapped->previous || &free == growth.unmapped->next) continue;
    const Idle idle = idle_mappings(free);
    if (idle.end - idle.begin >= kWorthMovingBytes) found.push_back(idle);
  }
  if (found.empty()) return {};
  std::stable_sort(found.begin(), found.end(),
                   [](const Idle& a, const Idle& b) { return a.end - a.begin > b.end - b.begin; });
  auto missing = static_cast<std::size_t>(after - reserved.peak);
  const auto enough =
      std::find_if(found.rbegin(), found.rend(), [&](const Idle& idle) { return idle.end - idle.begin >= missing; });
  if (enough != found.rend()) found.assign(1, *enough);
  if (auto waited = shared_.device.synchronize(stream_); !waited) return waited;
  for (const Idle& idle : found) {
    if (auto unmapped = unmap(idle); !unmapped) return unmapped;
    const std::size_t bytes = idle.end - idle.begin;
    if (bytes >= missing) break;
    missing -= bytes;
  }
  return {};
}

Result<void> RemappingArena::release() {
  const std::lock_guard lock(lock_);
  ++books_.statistics().num_sync_all_streams;
  std::vector<Idle> found;
  for (Block* block = books_.segments().front().first; block != nullptr; block = block->next) {
    if (free_bytes(block) == 0) continue;
    const Idle idle = idle_mappings(*block);
    if (idle.end > idle.begin) found.push_back(idle);
  }
  for (const Idle& idle : found)
    if (auto unmapped = unmap(idle); !unmapped) return unmapped;
  return {};
}

Result<void> RemappingArena::poll() {
  const std::lock_guard lock(lock_);
  return pending_.poll();
}

Result<void> RemappingArena::complete_pending() {
  const std::lock_guard lock(lock_);
  return pending_.synchronize();
}

Statistics RemappingArena::statistics() const {
  const std::lock_guard lock(lock_);
  Statistics statistics = books_.statistics();
  mirror_large_pool(statistics);
  return statistics;
}

Usage RemappingArena::usage() const {
  const std::lock_guard lock(lock_);
  return usage_of(books_.statistics());
}

void RemappingArena::count(std::int64_t Statistics::*counter) {
  const std::lock_guard lock(lock_);
  ++(books_.statistics().*counter);
}

void RemappingArena::reset_peaks() {
  const std::lock_guard lock(lock_);
  reset_all_peaks(books_.statistics());
}

void RemappingArena::reset_accumulated() {
  const std::lock_guard lock(lock_);
  reset_all_accumulated(books_.statistics());
}

std::vector<SegmentInfo> RemappingArena::snapshot() const {
  const std::lock_guard lock(lock_);
  return books_.snapshot();
}

std::size_t RemappingArena::largest_free_bytes() const {
  const std::lock_guard lock(lock_);
  return books_.largest_free_bytes();
}

}  // namespace assay::allocator
