// SPDX-License-Identifier: Apache-2.0
// PolicyRig: a simulated device, a stream and an allocator of any policy on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "backends/allocator/make_allocator.hpp"
#include "backends/allocator/options.hpp"
#include "tests/support/allocator_walk.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::testing {

using allocator::Category;
using allocator::kMiB;

struct PolicyRig {
  explicit PolicyRig(std::string_view policy, std::string_view options = {},
                     std::size_t capacity = std::size_t{64} << 30)
      : device(capacity) {
    auto made = allocator::make_allocator(policy, options, FakeDevice::table(), device.handle());
    if (!made) throw std::runtime_error(made.error().text);
    allocator = std::move(*made);
    stream = device.new_stream();
    probe_maps = device.calls(Call::vmm_map);
    probe_unmaps = device.calls(Call::vmm_unmap);
  }

  std::uintptr_t take(std::size_t bytes) { return take_on(stream, bytes); }
  std::uintptr_t take_on(assay_stream* on, std::size_t bytes) {
    auto pointer = allocator->allocate(bytes, on, Category::workspace);
    if (!pointer) {
      ADD_FAILURE() << pointer.error().text;
      return 0;
    }
    return reinterpret_cast<std::uintptr_t>(*pointer);
  }
  void give(std::uintptr_t address) {
    const auto freed = allocator->deallocate(reinterpret_cast<void*>(address));
    EXPECT_TRUE(freed) << freed.error().text;
  }
  void use(std::uintptr_t address, assay_stream* other) {
    const auto recorded = allocator->record_stream(reinterpret_cast<void*>(address), other);
    EXPECT_TRUE(recorded) << recorded.error().text;
  }
  [[nodiscard]] allocator::Statistics stats() const { return allocator->statistics(); }
  [[nodiscard]] std::size_t reserved() const {
    return static_cast<std::size_t>(allocator->statistics().reserved_bytes[0].current);
  }
  // Since the probe at the allocator's creation.
  [[nodiscard]] std::size_t maps() const { return device.calls(Call::vmm_map) - probe_maps; }
  [[nodiscard]] std::size_t unmaps() const { return device.calls(Call::vmm_unmap) - probe_unmaps; }

  FakeDevice device;
  std::unique_ptr<allocator::Allocator> allocator;
  assay_stream* stream = nullptr;
  std::size_t probe_maps = 0;
  std::size_t probe_unmaps = 0;
};

}  // namespace assay::testing
