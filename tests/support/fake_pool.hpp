// SPDX-License-Identifier: Apache-2.0
// FakePool: the simulated device's stream-ordered pool.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/fake_device.hpp"

namespace assay::testing {

// Whole blocks, reused for a request of up to an eighth less: at once on the stream that freed them, where that stream
// waits for nobody, and on any stream when everything the freeing stream waited for is over. Beyond the release
// threshold, free blocks go back when the device is waited for.
struct FakeDevice::Pool {
  using Waits = std::vector<std::pair<Stream*, std::uint64_t>>;
  struct Free {
    std::uintptr_t address;
    std::size_t bytes;
    Stream* stream;  // null: of no one's any more
    Waits until;
  };
  FakeDevice* device;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  std::map<std::uintptr_t, std::size_t> live{};
  std::vector<Free> free{};
};

// Table entries, and what a wait for the device does.
struct FakePool {
  static assay_status create(assay_device* handle, assay_pool** out);
  static assay_status destroy(assay_pool* handle);
  static assay_status allocate(assay_pool* handle, std::size_t bytes, assay_stream* stream, void** out);
  static assay_status free(assay_pool* handle, void* pointer, assay_stream* stream);
  static assay_status trim(assay_pool* handle, std::size_t keep_bytes);
  static assay_status get(assay_pool* handle, std::int32_t attribute, std::uint64_t* out);
  static assay_status set(assay_pool* handle, std::int32_t attribute, std::uint64_t value);
  static void waited(FakeDevice& device);  // with the mutex held

 private:
  using Pool = FakeDevice::Pool;
  static Pool& of(assay_pool* handle) { return *reinterpret_cast<Pool*>(handle); }
  static bool over(const Pool::Waits& waits);
  static void release(Pool& pool, std::uint64_t keep_bytes);
  static void zero_another(Pool& pool, std::uintptr_t address);
};

}  // namespace assay::testing
