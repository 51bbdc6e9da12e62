// SPDX-License-Identifier: Apache-2.0
// Rig: a simulated device, a stream and a caching allocator on it, for the allocator's unit tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backends/allocator/caching.hpp"
#include "tests/support/allocator_walk.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::testing {

using allocator::Category;
using allocator::kMiB;

struct Rig {
  explicit Rig(std::string_view options = {}, std::size_t capacity = std::size_t{64} << 30) : device(capacity) {
    auto parsed = allocator::parse_options(options);
    if (!parsed) throw std::runtime_error(parsed.error().text);
    auto made = allocator::CachingAllocator::create(FakeDevice::table(), device.handle(), *parsed);
    if (!made) throw std::runtime_error(made.error().text);
    caching = std::move(*made);
    stream = device.new_stream();
  }

  // The address of a block, which must be granted.
  std::uintptr_t take(std::size_t bytes, Category category = Category::workspace) {
    return take_on(stream, bytes, category);
  }
  std::uintptr_t take_on(assay_stream* on, std::size_t bytes, Category category = Category::workspace) {
    auto pointer = caching->allocate(bytes, on, category);
    if (!pointer) {
      ADD_FAILURE() << pointer.error().text;
      return 0;
    }
    return reinterpret_cast<std::uintptr_t>(*pointer);
  }
  void give(std::uintptr_t address) {
    auto freed = caching->deallocate(reinterpret_cast<void*>(address));
    EXPECT_TRUE(freed) << freed.error().text;
  }
  void use(std::uintptr_t address, assay_stream* other) {
    auto recorded = caching->record_stream(reinterpret_cast<void*>(address), other);
    EXPECT_TRUE(recorded) << recorded.error().text;
  }
  [[nodiscard]] allocator::Statistics stats() const { return caching->statistics(); }
  [[nodiscard]] std::size_t device_allocs() const { return device.calls(Call::malloc); }

  FakeDevice device;
  std::unique_ptr<allocator::CachingAllocator> caching;
  assay_stream* stream = nullptr;
};

}  // namespace assay::testing
