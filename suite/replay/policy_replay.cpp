// SPDX-License-Identifier: Apache-2.0
// One policy, event by event.
#include "suite/replay/policy_replay.hpp"

#include <algorithm>
#include <utility>

#include "backends/allocator/make_allocator.hpp"
#include "backends/allocator/splitting.hpp"
#include "suite/replay/refusal.hpp"

namespace assay::replay {

using allocator::Category;

namespace {

constexpr std::size_t kAhead = 8;  // events; a slot of the map is on its way for about as long

}  // namespace

Result<std::unique_ptr<PolicyReplay>> PolicyReplay::create(const PolicyChoice& choice, std::int32_t device,
                                                           std::size_t capacity_bytes, bool with_series) {
  std::unique_ptr<PolicyReplay> replay(new PolicyReplay(choice, device, capacity_bytes, with_series));
  auto made =
      allocator::make_allocator(choice.policy, choice.options, SimulatedDevice::table(), replay->device_.handle());
  if (!made) return made.error();
  replay->allocator_ = std::move(*made);
  if (auto* splitting = dynamic_cast<allocator::SplittingAllocator*>(replay->allocator_.get()))
    splitting->use_one_thread();
  replay->device_.reset_calls();  // those of a mapping probe are not the trace's
  return replay;
}

void PolicyReplay::begin(const Beginning& beginning) {
  in_beginning_ = true;
  for (const InitialBlock& block : beginning.blocks) {
    if (ended_) break;
    if (block.device != device_index_) continue;
    allocate(block.address, block.requested_bytes, block.stream);
    observe();
  }
  in_beginning_ = false;
  beginning_steps_ = step_;
  calls_at_beginning_ = device_.calls();
}

void PolicyReplay::take(const EventChunk& chunk) {
  for (std::size_t i = 0; i < chunk.count && !ended_; ++i) {
    const trace::Event& event = chunk.events[i];
    if (i + kAhead < chunk.count) held_.prefetch(chunk.events[i + kAhead].address);
    if (event.device != device_index_) continue;
    event_ = chunk.first + i;
    take(event);
  }
}

void PolicyReplay::take(const trace::Event& event) {
  time_us_ = event.time_us;
  const bool completes = event.action == trace::Action::free_completed;
  if (requested_free_ != 0 && !(completes && event.address == requested_free_)) defer_requested();
  if (ended_) return;
  switch (event.action) {
    case trace::Action::alloc:
      ++operations_;
      if (!allocate(event.address, event.bytes, event.stream)) return;
      break;
    case trace::Action::free:
      ++operations_;
      free(event.address);
      return observe_free();
    case trace::Action::free_completed:
      ++operations_;
      complete_free(event.address);
      return observe_free();
    case trace::Action::free_requested:
      requested_free_ = event.address;
      return;  // the step is the completion's, or the next event's
    case trace::Action::empty_cache:
      if (auto emptied = allocator_->empty_cache(); !emptied) fail(emptied.error(), 0, 0);
      break;
    default:
      return;  // what the recorded allocator did by itself is no event of this one
  }
  observe();
}

bool PolicyReplay::allocate(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) {
  if (bytes == 0 || address == 0) return true;
  auto pointer = allocator_->allocate(static_cast<std::size_t>(bytes), stream_of(stream), Category::workspace);
  if (!pointer) {
    fail(pointer.error(), bytes, stream);
    return false;
  }
  held_[address] = {*pointer, nullptr};
  return true;
}

void PolicyReplay::free(std::uint64_t address) {
  const Held* held = held_.find(address);
  if (held == nullptr) return;  // it was of no bytes, or live before a window whose beginning is not known
  if (held->waits_for != nullptr) return complete_free(address);
  if (auto freed = allocator_->deallocate(held->pointer); !freed) fail(freed.error(), 0, 0);
  held_.erase(address);
}

void PolicyReplay::complete_free(std::uint64_t address) {
  requested_free_ = 0;
  Held* held = held_.find(address);
  if (held == nullptr) return;
  if (held->waits_for == nullptr) return free(address);
  device_.pass(held->waits_for);
  spare_streams_.push_back(held->waits_for);
  held_.erase(address);
  if (auto polled = allocator_->process_events(); !polled) fail(polled.error(), 0, 0);
}

// The free was requested and something else came before its completion: another stream still uses the block.
void PolicyReplay::defer_requested() {
  Held* held = held_.find(std::exchange(requested_free_, 0));
  if (held == nullptr || held->waits_for != nullptr) return;
  if (spare_streams_.empty()) spare_streams_.push_back(device_.new_stream());
  held->waits_for = spare_streams_.back();
  spare_streams_.pop_back();
  auto done = allocator_->record_stream(held->pointer, held->waits_for);
  if (done) done = allocator_->deallocate(held->pointer);
  if (!done) fail(done.error(), 0, 0);
}

void PolicyReplay::observe() {
  const allocator::Usage usage = allocator_->usage();
  if (usage.reserved_bytes > peaks_.reserved_bytes) {
    peaks_.reserved_bytes = usage.reserved_bytes;
    peaks_.reserved_step = step_;
  }
  peaks_.requested_bytes = std::max(peaks_.requested_bytes, usage.requested_bytes);
  peaks_.allocated_bytes = std::max(peaks_.allocated_bytes, usage.allocated_bytes);
  peaks_.active_bytes = std::max(peaks_.active_bytes, usage.active_bytes);
  if (with_series_ && !in_beginning_) series_.add(event_, time_us_, usage);
  if (step_++ == last_step_) ended_ = true;
}

// A free lifts no peak.
void PolicyReplay::observe_free() {
  if (with_series_) {
    if (series_.can_pass())
      series_.pass(event_, time_us_);
    else
      series_.add(event_, time_us_, allocator_->usage());
  }
  if (step_++ == last_step_) ended_ = true;
}

void PolicyReplay::fail(const Error& error, std::int64_t bytes, std::uint64_t stream) {
  ended_ = true;
  refusal_ = Refusal{in_beginning_, event_, time_us_, bytes, stream, error, {}, {}};
  account_for(*this, bytes > 0 ? stream_of(stream) : nullptr, *refusal_);
}

assay_stream* PolicyReplay::stream_of(std::uint64_t recorded) {
  for (NamedStream& named : streams_) {
    if (named.recorded != recorded) continue;
    assay_stream* stream = named.stream;
    std::swap(named, streams_.front());  // the next request is often for the same one
    return stream;
  }
  streams_.push_back({recorded, device_.new_stream()});
  return streams_.back().stream;
}

std::uint64_t PolicyReplay::recorded_stream(const assay_stream* stream) const {
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const NamedStream& named) { return named.stream == stream; });
  return found == streams_.end() ? 0 : found->recorded;
}

}  // namespace assay::replay
