// SPDX-License-Identifier: Apache-2.0
// A trace on a real device.
#include "suite/replay/device_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "backends/allocator/make_allocator.hpp"
#include "suite/replay/address_map.hpp"

namespace assay::replay {
namespace {

constexpr std::size_t kWindow = 256;  // bytes read at each of three places of a block

class OnDevice {
 public:
  OnDevice(const device::Device& device, std::int32_t trace_device) : device_(device), trace_device_(trace_device) {}

  Result<void> open(const PolicyChoice& choice) {
    auto made = allocator::make_allocator(choice.policy, choice.options, device_);
    if (!made) return made.error();
    allocator_ = std::move(*made);
    result_.policy = choice.policy;
    result_.options = choice.options;
    result_.device = trace_device_;
    return {};
  }

  Result<void> run(const TraceInput& trace) {
    Result<void> done;
    for (const InitialBlock& block : trace.beginning().blocks)
      if (block.device == trace_device_ && done && !ended_)
        done = allocate(block.address, block.requested_bytes, block.stream);
    if (!done) return done;
    auto read = trace.each([&](const EventChunk& chunk) {
      for (std::size_t i = 0; i < chunk.count && done && !ended_; ++i)
        if (chunk.events[i].device == trace_device_) done = take(chunk.events[i]);
      return done && !ended_;
    });
    if (!read) return read;
    std::vector<Held> left;
    held_.visit([&](std::uint64_t, const Held& held) { left.push_back(held); });
    for (const Held& held : left)
      if (done) done = check(held);
    return done;
  }

  ReplayOnDevice result() {
    const auto statistics = allocator_->statistics();
    result_.peak_requested_bytes = statistics.requested_bytes[0].peak;
    result_.peak_active_bytes = statistics.active_bytes[0].peak;
    result_.peak_reserved_bytes = statistics.reserved_bytes[0].peak;
    result_.device_allocations = statistics.num_device_alloc;
    result_.retries = statistics.num_alloc_retries;
    return result_;
  }

 private:
  struct Held {
    void* pointer = nullptr;
    std::size_t bytes = 0;
    std::uint8_t pattern = 0;
    const device::Stream* stream = nullptr;
  };

  Result<void> take(const trace::Event& event) {
    switch (event.action) {
      case trace::Action::alloc:
        return allocate(event.address, event.bytes, event.stream);
      case trace::Action::free:
      case trace::Action::free_completed:
        return free(event.address);
      default:
        return {};
    }
  }

  Result<void> allocate(std::uint64_t address, std::int64_t bytes, std::uint64_t recorded) {
    if (bytes == 0 || address == 0) return {};
    auto stream = stream_of(recorded);
    if (!stream) return stream.error();
    const auto size = static_cast<std::size_t>(bytes);
    auto pointer = allocator_->allocate(size, (*stream)->handle(), allocator::Category::workspace);
    if (!pointer) {
      if (pointer.error().code != ErrorCode::out_of_memory) return pointer.error();
      ended_ = result_.out_of_memory = true;
      result_.failure = pointer.error().text;
      return {};
    }
    const auto pattern = static_cast<std::uint8_t>(++patterns_ % 255 + 1);
    if (auto filled = (*stream)->fill(*pointer, pattern, size); !filled) return filled;
    result_.bytes_written += bytes;
    held_[address] = {*pointer, size, pattern, *stream};
    return {};
  }

  Result<void> free(std::uint64_t address) {
    const Held* held = held_.find(address);
    if (held == nullptr) return {};
    if (auto checked = check(*held); !checked) return checked;
    void* pointer = held->pointer;
    held_.erase(address);
    return allocator_->deallocate(pointer);
  }

  Result<void> check(const Held& held) {
    std::array<std::uint8_t, 3 * kWindow> bytes{};
    const std::size_t window = std::min(kWindow, held.bytes);
    const std::array<std::size_t, 3> places{0, (held.bytes - window) / 2, held.bytes - window};
    for (std::size_t i = 0; i < places.size(); ++i)
      if (auto copied =
              held.stream->copy(bytes.data() + i * kWindow, static_cast<std::uint8_t*>(held.pointer) + places[i],
                                window, ASSAY_COPY_DEVICE_TO_HOST);
          !copied)
        return copied;
    if (auto waited = held.stream->synchronize(); !waited) return waited;
    ++result_.blocks_checked;
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t b = 0; b < window; ++b) {
        if (bytes[i * kWindow + b] == held.pattern) continue;
        if (++result_.blocks_overwritten == 1)
          result_.first_overwritten = fmt::format("a block of {} bytes held {:#x} instead of {:#x} at its byte {}",
                                                  held.bytes, bytes[i * kWindow + b], held.pattern, places[i] + b);
        return {};
      }
    return {};
  }

  Result<const device::Stream*> stream_of(std::uint64_t recorded) {
    const auto found = streams_.find(recorded);
    if (found != streams_.end()) return static_cast<const device::Stream*>(&found->second);
    auto made = device::Stream::create(device_);
    if (!made) return made.error();
    return static_cast<const device::Stream*>(&streams_.emplace(recorded, std::move(*made)).first->second);
  }

  const device::Device& device_;
  const std::int32_t trace_device_;
  std::map<std::uint64_t, device::Stream> streams_;  // outlive the allocator, whose end waits for them
  std::unique_ptr<allocator::Allocator> allocator_;
  AddressMap<Held> held_;
  std::uint64_t patterns_ = 0;
  bool ended_ = false;
  ReplayOnDevice result_;
};

}  // namespace

Result<ReplayOnDevice> replay_on_device(const TraceInput& trace, std::int32_t trace_device, const PolicyChoice& choice,
                                        const device::Device& device) {
  OnDevice replay(device, trace_device);
  if (auto opened = replay.open(choice); !opened) return opened.error();
  if (auto done = replay.run(trace); !done) return done.error();
  return replay.result();
}

}  // namespace assay::replay
