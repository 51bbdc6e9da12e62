// SPDX-License-Identifier: Apache-2.0
// What stands behind the opaque handles of the table, and how a stale or foreign handle is told from a live one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "backends/host/device_state.hpp"
#include "backends/host/lane.hpp"
#include "backends/host/memory.hpp"
#include "backends/host/pool.hpp"

namespace assay::host {

// The first member of every handle. Handles are never returned to the heap but reused, so that reading the tag of a
// destroyed one is defined.
enum class Tag : std::uint32_t { dead = 0, device = 0xA55A0001, stream, event, pool, physical };

}  // namespace assay::host

struct assay_device {
  std::atomic<assay::host::Tag> tag{assay::host::Tag::dead};
  std::unique_ptr<assay::host::DeviceState> state;
};

struct assay_stream {
  std::atomic<assay::host::Tag> tag{assay::host::Tag::dead};
  assay::host::DeviceState* device = nullptr;
  std::unique_ptr<assay::host::Lane> lane;
};

struct assay_event {
  std::atomic<assay::host::Tag> tag{assay::host::Tag::dead};
  assay::host::DeviceState* device = nullptr;
  bool timing = false;
  std::mutex mutex;
  assay::host::PointRef last;  // under mutex: the latest recording, empty before the first

  [[nodiscard]] assay::host::PointRef snapshot() {
    const std::lock_guard lock(mutex);
    return last;
  }
};

struct assay_pool {
  std::atomic<assay::host::Tag> tag{assay::host::Tag::dead};
  assay::host::DeviceState* device = nullptr;
  std::unique_ptr<assay::host::Pool> pool;
};

struct assay_physical {
  std::atomic<assay::host::Tag> tag{assay::host::Tag::dead};
  assay::host::DeviceState* device = nullptr;
  std::shared_ptr<assay::host::Extent> extent;
};

namespace assay::host {

template <class Handle>
inline constexpr Tag kTagOf = Tag::dead;
template <>
inline constexpr Tag kTagOf<assay_device> = Tag::device;
template <>
inline constexpr Tag kTagOf<assay_stream> = Tag::stream;
template <>
inline constexpr Tag kTagOf<assay_event> = Tag::event;
template <>
inline constexpr Tag kTagOf<assay_pool> = Tag::pool;
template <>
inline constexpr Tag kTagOf<assay_physical> = Tag::physical;

// A live handle of its kind. A null, destroyed or mixed-up one is not; a made-up address cannot be told.
template <class Handle>
[[nodiscard]] bool live(const Handle* handle) {
  return handle != nullptr && handle->tag.load(std::memory_order_relaxed) == kTagOf<Handle>;
}

// Hands out handles of one kind and takes them back for reuse. Thread-safe.
template <class Handle>
class Slab {
 public:
  Handle* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return &all_.emplace_back();
    Handle* handle = free_.back();
    free_.pop_back();
    return handle;
  }
  // The handle comes back emptied; its tag is dead.
  void give(Handle* handle) {
    const std::lock_guard lock(mutex_);
    free_.push_back(handle);
  }

 private:
  std::mutex mutex_;
  std::deque<Handle> all_;
  std::vector<Handle*> free_;
};

// The one state of the module. The table has no context argument, so it must be reachable without one; it is created
// on first use and never destroyed, because threads of streams may run until the process ends.
struct Runtime {
  Scheduler scheduler;
  Slab<assay_device> devices;
  Slab<assay_stream> streams;
  Slab<assay_event> events;
  Slab<assay_pool> pools;
  Slab<assay_physical> physicals;
};
[[nodiscard]] Runtime& runtime();

// Ends what a handle stands for and gives the handle back; they wait where the table says so. The device's lists are
// the caller's.
void end_stream(assay_stream* stream);
void end_event(assay_event* event);
void end_pool(assay_pool* pool);
void end_physical(assay_physical* physical);

}  // namespace assay::host
