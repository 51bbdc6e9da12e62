// SPDX-License-Identifier: Apache-2.0
// The native policy.
#include "backends/allocator/native.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "backends/allocator/errors.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/statistics_moves.hpp"

namespace assay::allocator {
namespace {

constexpr std::uint64_t kKeepEverything = UINT64_MAX;
constexpr std::string_view kThresholdKey = "release_threshold_mb:";

Result<std::uint64_t> read_threshold(std::string_view text) {
  if (text.empty()) return kKeepEverything;
  std::uint64_t mebibytes = 0;
  const bool named = text.substr(0, kThresholdKey.size()) == kThresholdKey;
  const std::string_view value = named ? text.substr(kThresholdKey.size()) : text;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), mebibytes);
  if (named && error == std::errc{} && end == value.data() + value.size() && mebibytes <= (kKeepEverything >> 21))
    return mebibytes * kMiB;
  return Error{ErrorCode::usage, "Allocator policy native was given the options '" + std::string(text) +
                                     "', but takes only release_threshold_mb:N with a whole number of MiB; leave the "
                                     "others out or choose caching."};
}

}  // namespace

Result<void> NativeAllocator::check(std::string_view options) {
  const auto threshold = read_threshold(options);
  return threshold ? Result<void>() : Result<void>(threshold.error());
}

Result<std::unique_ptr<NativeAllocator>> NativeAllocator::create(const assay_backend& table, assay_device* device,
                                                                 std::string_view options) {
  auto threshold = read_threshold(options);
  if (!threshold) return threshold.error();
  const DeviceCalls calls(table, device);
  auto pool = NativePool::create(table, device);
  if (!pool) return pool.error();
  auto sound = probe_canaries(table, device, *pool);
  if (!sound) return sound.error();
  auto findings = probe_threshold(calls, *pool, *threshold);
  if (!findings) return findings.error();
  if (!*sound) findings->canary_note = "the pool was not tried with canaries: the device fills no memory";
  for (const std::int32_t mark : {ASSAY_POOL_RESERVED_HIGH, ASSAY_POOL_USED_HIGH})
    if (auto reset = pool->set(mark, 0); !reset) return reset.error();
  auto event = calls.create_event();
  if (!event) return event.error();
  auto joining = calls.create_stream();
  if (!joining) {
    calls.destroy_event(*event);
    return joining.error();
  }
  return std::unique_ptr<NativeAllocator>(
      new NativeAllocator(calls, std::move(*pool), *joining, *event, std::move(*findings)));
}

NativeAllocator::~NativeAllocator() {
  (void)device_.synchronize_all();
  for (const auto& [pointer, live] : live_) (void)pool_.free(pointer, joining_);
  (void)trim();
  device_.destroy_stream(joining_);
  device_.destroy_event(event_);
}

std::string NativeAllocator::options() const {
  if (findings_.release_threshold == kKeepEverything) return {};
  return std::string(kThresholdKey) + std::to_string(findings_.release_threshold / kMiB);
}

std::vector<std::string> NativeAllocator::notes() const {
  std::vector<std::string> notes{"peaks of reserved memory are the runtime's own high-water marks: upper bounds"};
  for (const std::string& note : {findings_.threshold_note, findings_.canary_note})
    if (!note.empty()) notes.push_back(note);
  return notes;
}

Result<void*> NativeAllocator::allocate(std::size_t bytes, assay_stream* stream, Category category) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequestBytes) return absurd_request(bytes);
  const std::lock_guard lock(mutex_);
  auto pointer = pool_.allocate(bytes, stream);
  if (pointer && *pointer == nullptr) {
    if (auto trimmed = trim(); !trimmed) return trimmed.error();
    ++statistics_.num_alloc_retries;
    pointer = pool_.allocate(bytes, stream);
  }
  if (!pointer) return pointer;
  if (*pointer == nullptr) {
    ++statistics_.num_ooms;
    return refused(bytes);
  }
  live_.emplace(*pointer, Live{bytes, stream, category, {}});
  count_allocation(statistics_, false, bytes, bytes, category);
  return pointer;
}

Result<void> NativeAllocator::deallocate(void* pointer) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) return not_live(pointer, "freed");
  const Live& live = found->second;
  auto freed = live.foreign.empty() ? pool_.free(pointer, live.stream) : free_after(pointer, live);
  if (!freed) return freed;
  count_free_request(statistics_, false, live.bytes, live.category);
  count_free_completion(statistics_, false, live.bytes, live.bytes, live.category);
  live_.erase(found);
  return {};
}

// One event is enough: a wait refers to the record that precedes it.
Result<void> NativeAllocator::free_after(void* pointer, const Live& live) {
  std::vector<assay_stream*> users = live.foreign;
  users.push_back(live.stream);
  for (assay_stream* user : users) {
    if (auto recorded = device_.record(event_, user); !recorded) return recorded;
    if (auto waits = device_.wait(joining_, event_); !waits) return waits;
  }
  return pool_.free(pointer, joining_);
}

Result<void> NativeAllocator::record_stream(void* pointer, assay_stream* stream) {
  if (pointer == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) return not_live(pointer, "given a stream");
  auto& foreign = found->second.foreign;
  if (stream != found->second.stream && std::find(foreign.begin(), foreign.end(), stream) == foreign.end())
    foreign.push_back(stream);
  return {};
}

Result<void> NativeAllocator::trim() {
  ++statistics_.num_sync_all_streams;
  if (auto waited = device_.synchronize_all(); !waited) return waited;
  return pool_.trim(0);
}

Result<void> NativeAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  return trim();
}

// A reading that fails leaves the last one.
void NativeAllocator::read_reserved() const {
  const auto current = pool_.get(ASSAY_POOL_RESERVED_CURRENT);
  const auto high = pool_.get(ASSAY_POOL_RESERVED_HIGH);
  for (Stat* stat : {&statistics_.reserved_bytes[0], &statistics_.reserved_bytes[stat_index(false)]}) {
    if (current) {
      const auto change = static_cast<std::int64_t>(*current) - stat->current;
      if (change > 0) stat->increase(change);
      if (change < 0) stat->decrease(-change);
    }
    if (high) stat->peak = std::max(stat->peak, static_cast<std::int64_t>(*high));
  }
}

Statistics NativeAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  read_reserved();
  return statistics_;
}

void NativeAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  (void)pool_.set(ASSAY_POOL_RESERVED_HIGH, 0);
  read_reserved();
  reset_all_peaks(statistics_);
}

void NativeAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  read_reserved();
  reset_all_accumulated(statistics_);
}

std::vector<SegmentInfo> NativeAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  read_reserved();
  auto beyond = static_cast<std::size_t>(statistics_.reserved_bytes[0].current);
  std::vector<SegmentInfo> infos;
  const auto add = [&](std::uintptr_t address, assay_stream* stream, const BlockInfo& block) {
    SegmentInfo info;
    info.address = address;
    info.total_bytes = block.bytes;
    info.stream = stream;
    info.expandable = true;  // not a device allocation of its own
    info.blocks.push_back(block);
    infos.push_back(std::move(info));
  };
  for (const auto& [pointer, live] : live_) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    add(address, live.stream, {address, live.bytes, live.bytes, BlockState::active_allocated, live.category});
    beyond -= std::min(beyond, live.bytes);
  }
  if (beyond > 0) add(0, nullptr, {0, beyond, 0, BlockState::inactive, Category::workspace});
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return infos;
}

Error NativeAllocator::refused(std::size_t bytes) const {
  read_reserved();
  return out_of_memory(bytes, "more than the runtime's pool grants, after it was trimmed", statistics_, std::nullopt,
                       device_);
}

}  // namespace assay::allocator
