// SPDX-License-Identifier: Apache-2.0
// The contract of Allocator, for every policy over every device: parameters and fixture; the tests are in the .cpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "backends/device/device.hpp"
#include "tests/support/allocator_walk.hpp"
#include "tests/support/fake_device.hpp"

namespace assay::testing {

inline constexpr std::size_t kContractBytes = std::size_t{256} << 20;  // memory of the device under test

enum class ContractDevice { simulated, host };

struct AllocatorCase {
  std::string policy;
  std::string options;
  ContractDevice device;
  std::string name;
  friend std::ostream& operator<<(std::ostream& out, const AllocatorCase& c) { return out << c.name; }
};

// A device with real memory, two streams and one allocator. Skips, and says so, where the host module is not built.
class AllocatorContract : public ::testing::TestWithParam<AllocatorCase> {
 protected:
  void SetUp() override {
    if (GetParam().device == ContractDevice::simulated) {
      fake_ = std::make_unique<FakeDevice>(kContractBytes, FakeDevice::Memory::host);
      fake_->finish_at_record(true);
      table_ = &FakeDevice::table();
      handle_ = fake_->handle();
    } else {
      open_host();
      if (table_ == nullptr) return;
    }
    for (assay_stream*& stream : streams_) ASSERT_EQ(table_->stream_create(handle_, 0, &stream), ASSAY_OK);
    held_before_ = held_bytes();
    make();
  }

  void TearDown() override {
    allocator_.reset();
    for (assay_stream* stream : streams_)
      if (stream != nullptr) (void)table_->stream_destroy(stream);
  }

  void open_host() {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    const auto path = std::filesystem::path(folder != nullptr ? folder : ".") / "libassay-host.so";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no host module at " << path;
    auto module = device::Module::load(path.string());
    ASSERT_TRUE(module) << module.error().text;
    auto opened = device::Device::open(*module, 0, {{"memory_bytes", std::to_string(kContractBytes)}});
    ASSERT_TRUE(opened) << opened.error().text;
    host_.emplace(std::move(*opened));
    table_ = &host_->table();
    handle_ = host_->handle();
  }

  void make() {
    auto made = allocator::make_allocator(GetParam().policy, GetParam().options, *table_, handle_);
    ASSERT_TRUE(made) << made.error().text;
    allocator_ = std::move(*made);
  }

  // Memory the device says allocators of this process hold.
  [[nodiscard]] std::int64_t held_bytes() const {
    assay_memory_info info{};
    EXPECT_EQ(table_->memory_info(handle_, &info), ASSAY_OK);
    return info.allocator_bytes;
  }

  void* take(std::size_t bytes, assay_stream* stream, allocator::Category category = allocator::Category::workspace) {
    auto pointer = allocator_->allocate(bytes, stream, category);
    if (!pointer) {
      ADD_FAILURE() << pointer.error().text;
      return nullptr;
    }
    return *pointer;
  }
  void give(void* pointer) {
    const auto freed = allocator_->deallocate(pointer);
    EXPECT_TRUE(freed) << freed.error().text;
  }

  std::unique_ptr<FakeDevice> fake_;
  std::optional<device::Device> host_;
  const assay_backend* table_ = nullptr;
  assay_device* handle_ = nullptr;
  assay_stream* streams_[2] = {nullptr, nullptr};
  std::int64_t held_before_ = 0;
  std::unique_ptr<allocator::Allocator> allocator_;
};

}  // namespace assay::testing
