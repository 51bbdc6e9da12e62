// SPDX-License-Identifier: Apache-2.0
// DeviceState and the objects behind the table's handles: what a device holds, whether it captures, whether it is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "backends/abi/assay_backend.h"
#include "backends/gpu/board.hpp"
#include "backends/gpu/codes.hpp"
#include "backends/gpu/error.hpp"
#include "backends/gpu/runtime.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
struct DeviceState;

template <GpuRuntime Rt>
struct StreamState {
  DeviceState<Rt>* device = nullptr;
  typename Rt::Stream handle{};
  std::atomic<bool> capturing{false};
};

template <GpuRuntime Rt>
struct EventState {
  DeviceState<Rt>* device = nullptr;
  typename Rt::Event handle{};
  bool timing = false;
  std::atomic<bool> recorded{false};
};

template <GpuRuntime Rt>
struct PoolState {
  DeviceState<Rt>* device = nullptr;
  typename Rt::Pool handle{};
  // What was current when each high-water mark was last reset: HIP's own mark then falls to 0 and misses it.
  std::atomic<std::uint64_t> reserved_at_reset{0};
  std::atomic<std::uint64_t> used_at_reset{0};
};

template <GpuRuntime Rt>
struct PhysicalState {
  DeviceState<Rt>* device = nullptr;
  typename Rt::Physical handle{};
  std::size_t bytes = 0;
  std::uint32_t owner = 0;
  int mappings = 0;  // under the device's mutex
};

template <GpuRuntime Rt>
struct GraphState {
  DeviceState<Rt>* device = nullptr;
  typename Rt::GraphExec handle{};
};

struct Block {
  std::size_t bytes = 0;
  std::uint32_t owner = 0;
};

template <GpuRuntime Rt>
struct Mapping {
  std::size_t bytes = 0;
  PhysicalState<Rt>* physical = nullptr;
};

// What was found out about a capability, once per open device.
struct Capability {
  bool known = false;
  bool supported = false;
  std::string reason;  // of a capability that is missing
};

// An open device. Calls may come from several threads: the books are under `mutex`, the runtime is thread-safe itself.
// The calling thread's current device belongs to the module: it is set before every call that depends on it and never
// put back, since putting back a device that was never used would create a context there.
template <GpuRuntime Rt>
struct DeviceState {
  int ordinal = 0;
  typename Rt::Properties properties{};
  std::string arch;
  std::string uuid;
  std::string pci_bdf;
  kernels::Target target;
  std::unique_ptr<Board> board;
  std::atomic<assay_status> lost{ASSAY_OK};
  std::atomic<int> capturing{0};

  std::mutex board_mutex;
  std::mutex capability_mutex;
  std::array<Capability, 5> capabilities;  // by ASSAY_CAPABILITY_*
  std::uint32_t probe_word = 0;            // where a probe's copies arrive

  std::mutex mutex;
  std::array<char, 512> lost_words{};
  std::unordered_map<void*, Block> memory;
  std::unordered_set<void*> host_memory;
  std::int64_t allocator_bytes = 0;
  std::int64_t external_bytes = 0;
  std::map<std::uintptr_t, std::size_t> reservations;
  std::map<std::uintptr_t, Mapping<Rt>> mappings;
  std::unordered_map<StreamState<Rt>*, std::unique_ptr<StreamState<Rt>>> streams;
  std::unordered_map<EventState<Rt>*, std::unique_ptr<EventState<Rt>>> events;
  std::unordered_map<PoolState<Rt>*, std::unique_ptr<PoolState<Rt>>> pools;
  std::unordered_map<PhysicalState<Rt>*, std::unique_ptr<PhysicalState<Rt>>> physicals;
  std::unordered_map<GraphState<Rt>*, std::unique_ptr<GraphState<Rt>>> graphs;
  std::unordered_map<const void*, std::uint32_t> shared_allowed;  // dynamic shared bytes asked for, by kernel entry

  // The status of a runtime call, its words noted when it failed. A failure that the runtime will repeat for ever is
  // remembered. The runtime's own last error is cleared (and its answer ignored: HIP before 7.0 returns the status of
  // the last call there, so it says nothing), because only returned values are ever looked at.
  assay_status check(const char* what, typename Rt::Status status) {
    const assay_status result = classify(static_cast<int>(status));
    if (result == ASSAY_OK || result == ASSAY_NOT_READY) return result;
    note<Rt>(what, status);
    static_cast<void>(Rt::clear_last_error());
    if (is_sticky(result)) remember_loss(result);
    return result;
  }

  // First line of every entry: the remembered loss, or the calling thread switched to this device.
  assay_status enter() {
    const assay_status before = lost.load();
    if (before != ASSAY_OK) {
      const std::lock_guard lock(mutex);
      return refuse<Rt>(before, lost_words.data());
    }
    return check("set the device", Rt::set_device(ordinal));
  }

  // enter() for calls that a capture forbids.
  assay_status enter_outside_capture() {
    if (const assay_status status = enter(); status != ASSAY_OK) return status;
    if (capturing.load() > 0)
      return refuse<Rt>(ASSAY_INVALID_VALUE, "a stream of this device captures a graph; end the capture first");
    return ASSAY_OK;
  }

  void account(std::uint32_t owner, std::int64_t bytes) {  // under `mutex`
    (owner == ASSAY_OWNER_ALLOCATOR ? allocator_bytes : external_bytes) += bytes;
  }

 private:
  void remember_loss(assay_status status) {
    const std::lock_guard lock(mutex);
    if (lost.load() != ASSAY_OK) return;
    std::snprintf(lost_words.data(), lost_words.size(),
                  "the device failed earlier and needs a new process; then: %.400s", error_buffer<Rt>().data());
    lost.store(status);
  }
};

// Handles of the C table are pointers to the states.
template <GpuRuntime Rt>
DeviceState<Rt>* state(assay_device* handle) {
  return reinterpret_cast<DeviceState<Rt>*>(handle);
}
template <GpuRuntime Rt>
StreamState<Rt>* state(assay_stream* handle) {
  return reinterpret_cast<StreamState<Rt>*>(handle);
}
template <GpuRuntime Rt>
EventState<Rt>* state(assay_event* handle) {
  return reinterpret_cast<EventState<Rt>*>(handle);
}
template <GpuRuntime Rt>
PoolState<Rt>* state(assay_pool* handle) {
  return reinterpret_cast<PoolState<Rt>*>(handle);
}
template <GpuRuntime Rt>
PhysicalState<Rt>* state(assay_physical* handle) {
  return reinterpret_cast<PhysicalState<Rt>*>(handle);
}
template <GpuRuntime Rt>
GraphState<Rt>* state(assay_graph* handle) {
  return reinterpret_cast<GraphState<Rt>*>(handle);
}

template <GpuRuntime Rt>
assay_status missing_argument() {
  return refuse<Rt>(ASSAY_INVALID_VALUE, "a required argument is a null pointer");
}

// Gives an object to its device and returns its handle.
template <class Handle, class Objects, class Object>
Handle* adopt(std::mutex& mutex, Objects& objects, std::unique_ptr<Object> object) {
  Object* raw = object.get();
  const std::lock_guard lock(mutex);
  objects.emplace(raw, std::move(object));
  return reinterpret_cast<Handle*>(raw);
}

template <class Objects, class Object>
void drop(std::mutex& mutex, Objects& objects, Object* object) {
  const std::lock_guard lock(mutex);
  objects.erase(object);
}

}  // namespace assay::gpu
