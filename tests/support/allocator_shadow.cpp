// SPDX-License-Identifier: Apache-2.0
// The operations and the laws.
#include "tests/support/allocator_shadow.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/allocator_recount.hpp"

namespace assay::testing {
namespace {

using allocator::BlockState;
using allocator::Category;
using allocator::Statistics;

constexpr std::size_t kCapacity = std::size_t{512} << 20;
constexpr std::size_t kMostLive = 24;  // keeps the recount after each operation cheap
constexpr std::uint32_t kMiB = 1u << 20;

std::array<const allocator::Stat*, 5> watched_of(const Statistics& s) {
  return {&s.allocation[0], &s.allocated_bytes[0], &s.active[0], &s.requested_bytes[0], &s.reserved_bytes[0]};
}

std::string in_the_way(const std::map<std::uintptr_t, std::size_t>& others, std::uintptr_t address, std::size_t bytes) {
  const auto next = others.lower_bound(address);
  const bool above = next == others.end() || next->first >= address + bytes;
  const bool below = next == others.begin() || std::prev(next)->first + std::prev(next)->second <= address;
  return above && below ? "" : "overlaps";
}

}  // namespace

AllocatorShadow::AllocatorShadow(std::string_view policy, std::string_view options, const Wrap& wrap)
    : device_(kCapacity) {
  auto made = allocator::make_allocator(policy, options, FakeDevice::table(), device_.handle());
  if (!made) throw std::runtime_error(made.error().text);
  allocator_ = wrap ? wrap(std::move(*made)) : std::move(*made);
  for (auto*& stream : streams_) stream = device_.new_stream();
  check();
}

std::string AllocatorShadow::step(ByteSource& source) {
  armed_ = false;
  if (source.below(32) == 0) {
    armed_ = true;
    device_.fail_any(1 + source.below(4), ASSAY_INTERNAL);
  }
  operate(source);
  device_.stop_failing();
  check();
  return problem_;
}

void AllocatorShadow::operate(ByteSource& source) {
  const std::uint32_t choice = source.below(100);
  if (choice < 46 && live_.size() < kMostLive) return allocate(source);
  if (choice < 86) return deallocate(source);
  if (choice < 94) return device_.finish(streams_[source.below(3)]);
  other(source);
}

void AllocatorShadow::expect_answer(const Error& error, std::initializer_list<ErrorCode> codes) {
  if (armed_ && device_.failed_any()) return;
  if (std::find(codes.begin(), codes.end(), error.code) == codes.end())
    fail("an error nothing explains: " + error.text);
}

void AllocatorShadow::allocate(ByteSource& source) {
  const std::uint32_t kind = source.below(10);
  const std::uint32_t part = source.below(1u << 16);
  const std::size_t bytes = 1 + (kind < 5   ? part
                                 : kind < 8 ? std::size_t{part} * 128    // up to 8 MiB
                                            : std::size_t{part} * 768);  // up to 48 MiB
  assay_stream* stream = streams_[source.below(3)];
  const auto category = static_cast<Category>(source.below(allocator::kCategoryCount));
  auto pointer = allocator_->allocate(bytes, stream, category);
  drop_passed();
  if (!pointer) return expect_answer(pointer.error(), {ErrorCode::out_of_memory});
  const auto address = reinterpret_cast<std::uintptr_t>(*pointer);
  if (address == 0 || address % 512 != 0) fail("a block at " + std::to_string(address));
  std::map<std::uintptr_t, std::size_t> taken;
  for (const auto& [start, use] : live_) taken.emplace(start, use.bytes);
  if (!in_the_way(taken, address, bytes).empty()) fail("a block overlaps a live one");
  taken.clear();
  for (const auto& [start, use] : pending_) taken.emplace(start, use.bytes);
  if (allocator_->policy() != "direct" && !in_the_way(taken, address, bytes).empty())
    fail("a block overlaps memory another stream may still use");
  Use& use = live_[address];
  use = {bytes, category, stream, {}};
  for (std::uint32_t more = source.below(4); more == 0; more = source.below(4)) {
    assay_stream* foreign = streams_[source.below(3)];
    if (auto recorded = allocator_->record_stream(*pointer, foreign); !recorded) fail(recorded.error().text);
    if (foreign != stream) use.foreign[foreign] = 0;
    if (source.empty()) break;
  }
}

void AllocatorShadow::deallocate(ByteSource& source) {
  if (live_.empty()) return;
  const auto victim = std::next(live_.begin(), source.below(static_cast<std::uint32_t>(live_.size())));
  auto* pointer = reinterpret_cast<void*>(victim->first);
  for (auto& [stream, work] : victim->second.foreign) work = device_.enqueue(stream);
  if (auto freed = allocator_->deallocate(pointer); !freed) return expect_answer(freed.error(), {});
  const auto again = allocator_->deallocate(pointer);
  if (again || again.error().code != ErrorCode::usage) fail("a second free is not refused as usage");
  if (!victim->second.foreign.empty()) pending_[victim->first] = victim->second;
  live_.erase(victim);
}

void AllocatorShadow::other(ByteSource& source) {
  const std::uint32_t choice = source.below(8);
  if (choice < 2) return private_pool(source);
  if (choice < 4) {
    if (auto polled = allocator_->process_events(); !polled) expect_answer(polled.error(), {});
  } else if (choice < 6) {
    if (auto emptied = allocator_->empty_cache(); !emptied) {
      if (filling_) return expect_answer(emptied.error(), {ErrorCode::usage});
      expect_answer(emptied.error(), {});
    }
  } else if (choice < 7) {
    allocator_->reset_peaks();
    for (Watched& each : watched_) each.highest = 0;
  } else {
    allocator_->reset_accumulated();
    const Statistics s = allocator_->statistics();
    const auto stats = watched_of(s);
    for (std::size_t i = 0; i < stats.size(); ++i) watched_[i].balance = -stats[i]->current;
  }
}

void AllocatorShadow::private_pool(ByteSource& source) {
  if (filling_) {
    if (auto ended = allocator_->end_pool({1, 0}); !ended) fail(ended.error().text);
    if (auto released = allocator_->release_pool({1, 0}); !released) fail(released.error().text);
    filling_ = false;
    return;
  }
  assay_stream* only = streams_[source.below(3)];
  const auto begun = allocator_->begin_pool({1, 0}, [only](assay_stream* stream) { return stream == only; });
  filling_ = begun.has_value();
  if (!begun && begun.error().code != ErrorCode::unsupported) fail(begun.error().text);
}

void AllocatorShadow::drop_passed() {
  for (auto use = pending_.begin(); use != pending_.end();) {
    const auto& foreign = use->second.foreign;
    const bool passed = std::all_of(foreign.begin(), foreign.end(),
                                    [this](const auto& each) { return device_.finished(each.first) >= each.second; });
    use = passed ? pending_.erase(use) : std::next(use);
  }
}

void AllocatorShadow::check() {
  const Statistics statistics = allocator_->statistics();
  const auto segments = allocator_->snapshot();
  if (const std::string problem = recount(segments, statistics); !problem.empty()) fail(problem);
  if (statistics.reserved_bytes[0].current != static_cast<std::int64_t>(device_.held_bytes()))
    fail("reserved is " + std::to_string(statistics.reserved_bytes[0].current) + ", but the device lent " +
         std::to_string(device_.held_bytes()));
  std::size_t found = 0;
  for (const auto& segment : segments)
    for (const auto& block : segment.blocks) {
      if (block.state != BlockState::active_allocated) continue;
      const auto own = live_.find(block.address);
      if (own == live_.end() || own->second.bytes != block.requested_bytes || own->second.category != block.category ||
          own->second.stream != segment.stream)
        fail("the snapshot shows a live block the caller does not have");
      ++found;
    }
  if (found != live_.size()) fail("the snapshot lacks a live block");
  check_watched(statistics);
}

void AllocatorShadow::check_watched(const Statistics& statistics) {
  const auto stats = watched_of(statistics);
  const bool sums = !allocator_->reliability().block_peaks_exact;
  for (std::size_t i = 0; i < stats.size(); ++i) {
    Watched& each = watched_[i];
    each.highest = std::max(each.highest, stats[i]->current);
    const bool within = i + 1 == stats.size();  // reserved may be higher in the middle of an operation
    if (stats[i]->peak < each.highest || (!sums && !within && stats[i]->peak != each.highest))
      fail("peak " + std::to_string(i) + " is " + std::to_string(stats[i]->peak) + ", the highest value seen " +
           std::to_string(each.highest));
    if (stats[i]->allocated - stats[i]->freed - stats[i]->current != each.balance)
      fail("statistic " + std::to_string(i) + ": allocated - freed does not move with current");
  }
}

}  // namespace assay::testing
