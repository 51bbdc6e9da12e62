// SPDX-License-Identifier: Apache-2.0
// FakeDevice: a device table without a device, for tests: fixed capacity, events moved by hand, counted and failing
// calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/abi/assay_backend.h"

namespace assay::testing {

// Calls are counted, and made to fail, by kind.
enum class Call : std::size_t {
  malloc,
  free,
  memory_info,
  event_create,
  event_destroy,
  event_record,
  event_query,
  event_synchronize,
  synchronize,  // of a stream or the device
  vmm_reserve,
  vmm_unreserve,
  vmm_create,
  vmm_release,
  vmm_map,
  vmm_unmap,
  pool_create,
  pool_malloc,
  pool_free,
  pool_trim,
  pool_attribute
};
inline constexpr std::size_t kCallCount = 20;

// The runtime's pool is fake_pool.hpp. Memory is invented (increasing addresses that must not be touched) or real host
// memory. Every member and every table entry may be called from several threads; entries an allocator has no use for
// answer ASSAY_UNSUPPORTED. Mapping has a granularity of 2 MiB; memory mapped at once is unmapped as a whole, several
// mappings in one call. At most one FakeDevice's last_error text is kept per thread.
class FakeDevice {
 public:
  enum class Memory { invented, host };

  explicit FakeDevice(std::size_t capacity_bytes, Memory memory = Memory::invented);
  ~FakeDevice();
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  [[nodiscard]] static const assay_backend& table();
  [[nodiscard]] assay_device* handle() { return reinterpret_cast<assay_device*>(this); }

  // Streams live as long as the device. An event is complete once `finish` of its stream was called after its record.
  assay_stream* new_stream();
  void finish(assay_stream* stream);                    // everything recorded so far
  void finish_one(assay_stream* stream);                // the oldest event not yet complete
  [[nodiscard]] bool idle(assay_stream* stream) const;  // everything recorded so far is complete
  // Work on a stream: its place in it, which events share. What is `finished` up to and including a place is over.
  std::uint64_t enqueue(assay_stream* stream) {
    const std::lock_guard lock(mutex_);
    return ++reinterpret_cast<Stream*>(stream)->recorded;
  }
  [[nodiscard]] std::uint64_t finished(assay_stream* stream) const {
    const std::lock_guard lock(mutex_);
    return reinterpret_cast<const Stream*>(stream)->finished;
  }
  void finish_at_record(bool always);  // events complete as soon as they are recorded

  // The n-th call of a kind from now on (1 is the next one) answers `status`; with `and_after` every later one too.
  void fail(Call call, std::size_t nth, assay_status status, bool and_after = false);
  // The runtime's pool is there (the default), or ASSAY_UNSUPPORTED.
  void offer_pool(bool offered);
  // Quirks of a runtime's pool: what is free goes back at the first wait whatever the release threshold says; and the
  // n-th pool_malloc from now on zeroes another live block.
  void ignore_release_threshold(bool ignored);
  void zero_a_live_block_at(std::size_t nth_pool_malloc);
  // Virtual memory management answers ASSAY_UNSUPPORTED (or does again).
  void offer_mapping(bool offered);

  // The n-th call of any kind but event_destroy and memory_info.
  void fail_any(std::size_t nth, assay_status status);
  void stop_failing();
  [[nodiscard]] bool failed_any() const;  // whether the call armed with fail_any has come

  // Addresses the next mallocs return, in this order, before inventing again. Invented memory only.
  void hand_out(std::uintptr_t address);
  // Books memory as obtained before the test began.
  void adopt(std::uintptr_t address, std::size_t bytes);
  // Bytes somebody else holds.
  void set_foreign_bytes(std::size_t bytes);

  [[nodiscard]] std::size_t calls(Call call) const;
  [[nodiscard]] std::size_t held_bytes() const;                 // sum of live allocations
  [[nodiscard]] std::size_t mapped_bytes() const;               // of these, mapped at reserved addresses
  [[nodiscard]] std::size_t reservations() const;               // address ranges that exist now
  [[nodiscard]] std::size_t events() const;                     // events that exist now
  [[nodiscard]] std::vector<std::size_t> malloc_sizes() const;  // of every successful malloc, in order
  [[nodiscard]] std::vector<std::uintptr_t> freed_addresses() const;

 private:
  friend struct FakeTable;
  friend struct FakeMapping;
  friend struct FakePool;
  struct Stream {
    FakeDevice* device;
    std::uint64_t recorded = 0;
    std::uint64_t finished = 0;
    std::vector<std::pair<Stream*, std::uint64_t>> waits{};  // tickets of other streams that come before its next work
  };
  struct Pool;
  struct Event {
    FakeDevice* device;
    Stream* stream = nullptr;
    std::uint64_t ticket = 0;
  };
  struct Physical {
    FakeDevice* device;
    std::size_t bytes;
    bool held = true;  // by its handle
    bool mapped = false;
  };
  struct Plan {
    std::size_t countdown = 0;  // 0: not armed
    bool and_after = false;
    bool firing = false;
    assay_status status = ASSAY_OK;
  };

  // The status an armed failure gives this call; ASSAY_OK otherwise. With the mutex held.
  assay_status enter(Call call);
  static bool due(Plan& plan);
  // Memory from the capacity and back to it. With the mutex held.
  assay_status lend(std::size_t bytes, std::uintptr_t* address);
  void take_back(std::uintptr_t address);

  mutable std::mutex mutex_;
  const std::size_t capacity_;
  const Memory memory_;
  std::uintptr_t next_address_;
  std::deque<std::uintptr_t> prescribed_;
  std::map<std::uintptr_t, std::size_t> live_;
  std::size_t held_ = 0;
  std::size_t foreign_ = 0;
  bool finish_at_record_ = false;
  std::array<std::size_t, kCallCount> calls_{};
  std::array<Plan, kCallCount> plans_{};
  Plan any_;
  bool any_failed_ = false;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  bool mapping_offered_ = true;
  std::map<std::uintptr_t, std::size_t> reservations_;
  std::map<std::uintptr_t, Physical*> mappings_;
  std::map<Physical*, std::unique_ptr<Physical>> physicals_;
  bool pool_offered_ = true;
  bool threshold_ignored_ = false;
  std::size_t zeroing_in_ = 0;
  std::vector<std::shared_ptr<Pool>> pools_;
  std::vector<std::size_t> malloc_sizes_;
  std::vector<std::uintptr_t> freed_;
};

}  // namespace assay::testing
