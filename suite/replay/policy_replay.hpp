// SPDX-License-Identifier: Apache-2.0
// PolicyReplay: the events of one device under one allocator policy, on a simulated device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "suite/replay/address_map.hpp"
#include "suite/replay/policy_list.hpp"
#include "suite/replay/series.hpp"
#include "suite/replay/simulated_device.hpp"
#include "suite/replay/trace_input.hpp"

namespace assay::replay {

// A request that was refused; the replay of its policy ends there.
struct Refusal {
  bool at_beginning = false;  // one of the blocks that were live before the first event
  std::uint64_t event = 0;
  std::int64_t time_us = -1;
  std::int64_t requested_bytes = 0;
  std::uint64_t stream = 0;  // the recorder's number
  Error error;
  std::string cause;     // "fragmentation", ...
  std::string sentence;  // the account, with the bytes of each part
};

// The most bytes of each kind there were after any event, and the first step with the most reserved ones.
struct Peaks {
  std::size_t requested_bytes = 0;
  std::size_t allocated_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t reserved_bytes = 0;
  std::uint64_t reserved_step = 0;
};

// Steps are the blocks live at the beginning, then the events. A free that the trace requests and completes at once is
// one deallocation. Otherwise the block is held by an event on a stream of its own, which passes where the trace says
// that the free completed. Blocks that are refused, and those of no bytes, leave nothing behind.
// One thread only. Memory in proportion to the live blocks.
class PolicyReplay {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  // Errors: those of the policy, as make_allocator gives them.
  static Result<std::unique_ptr<PolicyReplay>> create(const PolicyChoice& choice, std::int32_t device,
                                                      std::size_t capacity_bytes, bool with_series);

  // Every block of `beginning` on this replay's device, in address order.
  void begin(const Beginning& beginning);
  void take(const EventChunk& chunk);
  // Ends the replay after this step, leaving the allocator as it is then.
  void stop_after(std::uint64_t step) { last_step_ = step; }

  [[nodiscard]] const PolicyChoice& choice() const { return choice_; }
  [[nodiscard]] std::int32_t device_index() const { return device_index_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }
  [[nodiscard]] const Peaks& peaks() const { return peaks_; }
  [[nodiscard]] const Series& series() const { return series_; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }  // allocations and frees
  [[nodiscard]] const DeviceCallCounts& calls() const { return device_.calls(); }
  [[nodiscard]] const DeviceCallCounts& calls_at_beginning() const { return calls_at_beginning_; }
  [[nodiscard]] const allocator::Allocator& allocator() const { return *allocator_; }
  [[nodiscard]] std::size_t device_capacity_bytes() const { return device_.capacity_bytes(); }
  [[nodiscard]] std::size_t device_free_bytes() const { return device_.capacity_bytes() - device_.held_bytes(); }
  // The recorder's number of a stream of the replay.
  [[nodiscard]] std::uint64_t recorded_stream(const assay_stream* stream) const;

 private:
  struct Held {
    void* pointer = nullptr;
    assay_stream* waits_for = nullptr;  // the stream whose event holds a block that was freed
  };
  struct NamedStream {
    std::uint64_t recorded;
    assay_stream* stream;
  };

  PolicyReplay(PolicyChoice choice, std::int32_t device, std::size_t capacity_bytes, bool with_series)
      : choice_(std::move(choice)), device_index_(device), device_(capacity_bytes), with_series_(with_series) {}

  void take(const trace::Event& event);
  bool allocate(std::uint64_t address, std::int64_t bytes, std::uint64_t stream);
  void free(std::uint64_t address);
  void complete_free(std::uint64_t address);
  void defer_requested();
  void observe();
  void observe_free();
  void fail(const Error& error, std::int64_t bytes, std::uint64_t stream);
  assay_stream* stream_of(std::uint64_t recorded);

  const PolicyChoice choice_;
  const std::int32_t device_index_;
  SimulatedDevice device_;
  std::unique_ptr<allocator::Allocator> allocator_;
  AddressMap<Held> held_;
  std::vector<NamedStream> streams_;
  std::vector<assay_stream*> spare_streams_;  // of completed frees
  std::uint64_t requested_free_ = 0;          // address of a free whose completion may be the next event; 0: none
  const bool with_series_;
  Series series_;
  Peaks peaks_;
  DeviceCallCounts calls_at_beginning_;
  std::uint64_t step_ = 0;
  std::uint64_t beginning_steps_ = 0;
  std::uint64_t last_step_ = kNever;
  std::uint64_t event_ = 0;
  std::int64_t time_us_ = -1;
  std::uint64_t operations_ = 0;
  bool in_beginning_ = false;
  bool ended_ = false;
  std::optional<Refusal> refusal_;
};

}  // namespace assay::replay
