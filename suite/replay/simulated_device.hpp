// SPDX-License-Identifier: Apache-2.0
// SimulatedDevice: a device of addresses and capacity only, behind the same table as a real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/abi/assay_backend.h"

namespace assay::replay {

// Granted calls that give or take memory, since the last reset_calls.
struct DeviceCallCounts {
  std::int64_t malloc = 0;
  std::int64_t free = 0;
  std::int64_t map = 0;
  std::int64_t unmap = 0;
  [[nodiscard]] std::int64_t total() const { return malloc + free + map + unmap; }
  bool operator==(const DeviceCallCounts&) const = default;
};

// Addresses are invented, only ever increase and must not be touched; nothing is asked of the machine, so the same
// calls give the same answers everywhere. Memory beyond the capacity is refused. Mapping has a granularity of 2 MiB;
// what was mapped at once is unmapped as a whole, several mappings in one call. An event is complete once its stream
// was passed, or waited for. Entries an allocator has no use for answer ASSAY_UNSUPPORTED.
// One thread only. The device outlives its streams and every allocator on it.
class SimulatedDevice {
 public:
  // Far more than any board has, and small enough that address ranges of many streams fit into 64 bits.
  static constexpr std::size_t kUnlimitedBytes = std::size_t{1} << 43;

  explicit SimulatedDevice(std::size_t capacity_bytes = kUnlimitedBytes);
  ~SimulatedDevice();
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  [[nodiscard]] static const assay_backend& table();
  [[nodiscard]] assay_device* handle() { return reinterpret_cast<assay_device*>(this); }

  assay_stream* new_stream();
  void pass(assay_stream* stream);  // everything recorded on it so far is complete

  // The address of the next malloc, for replays that must come out at recorded addresses; it is used once.
  void hand_out(std::uintptr_t address) { prescribed_ = address; }
  // Memory that was obtained before the replay began.
  void adopt(std::uintptr_t address, std::size_t bytes);

  [[nodiscard]] const DeviceCallCounts& calls() const { return calls_; }
  void reset_calls() { calls_ = {}; }
  [[nodiscard]] std::size_t capacity_bytes() const { return capacity_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_; }
  [[nodiscard]] std::size_t last_malloc_bytes() const { return last_malloc_; }

 private:
  friend struct SimulatedTable;
  struct Stream {
    SimulatedDevice* device;
    std::uint64_t recorded = 0;
    std::uint64_t passed = 0;
  };
  struct Event {
    SimulatedDevice* device;
    Stream* stream = nullptr;
    std::uint64_t ticket = 0;
  };
  struct Physical {
    std::size_t bytes = 0;
    bool held = true;  // by its handle
    bool mapped = false;
  };

  [[nodiscard]] bool has_room(std::size_t bytes) const { return held_ <= capacity_ && bytes <= capacity_ - held_; }
  void drop_unused(Physical* physical);

  const std::size_t capacity_;
  std::uintptr_t next_address_;
  std::uintptr_t prescribed_ = 0;
  std::size_t held_ = 0;
  std::size_t last_malloc_ = 0;
  DeviceCallCounts calls_;
  std::unordered_map<std::uintptr_t, std::size_t> live_;
  std::deque<Stream> streams_;
  std::map<std::uintptr_t, std::size_t> reservations_;
  std::map<std::uintptr_t, Physical*> mappings_;
};

}  // namespace assay::replay
