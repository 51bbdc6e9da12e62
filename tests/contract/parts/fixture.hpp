// SPDX-License-Identifier: Apache-2.0
// What the parts of the backend contract share: the provider of a backend, the fixture, and small helpers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/device.hpp"

namespace assay::contract {

// How a backend is reached, and the promises that only some backends make.
struct Provider {
  std::string name;                                // letters, digits and underscores
  std::function<Result<device::Module>()> module;  // an error of code no_device skips the tests
  device::Options options;                         // for device_open
  std::int32_t ordinal = 0;

  bool exact_books = false;            // used bytes move by exactly what was asked, whole pages at a time, and at once
  bool detects_bad_pointers = false;   // copies and fills outside live memory are INVALID_VALUE instead of a fault
  bool detects_stale_handles = false;  // a destroyed handle is INVALID_VALUE instead of undefined
};

inline std::string provider_name(const ::testing::TestParamInfo<Provider>& info) {
  return info.param.name;
}
// GoogleTest prints parameters; a provider is its name.
inline void PrintTo(const Provider& provider, std::ostream* out) {
  *out << provider.name;
}

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

#define ASSAY_ASSERT_OK(call) ASSERT_EQ((call), ASSAY_OK) << table().last_error()
#define ASSAY_EXPECT_OK(call) EXPECT_EQ((call), ASSAY_OK) << table().last_error()
// A refusal has a sentence.
#define ASSAY_EXPECT_STATUS(call, status)                \
  do {                                                   \
    EXPECT_EQ((call), (status)) << table().last_error(); \
    EXPECT_STRNE(table().last_error(), "");              \
  } while (false)

class BackendContract : public ::testing::TestWithParam<Provider> {
 protected:
  void SetUp() override {
    auto module = GetParam().module();
    if (!module && module.error().code == ErrorCode::no_device) GTEST_SKIP() << module.error().text;
    ASSERT_TRUE(module) << module.error().text;
    module_.emplace(std::move(*module));
    auto device = device::Device::open(*module_, GetParam().ordinal, GetParam().options);
    if (!device && device.error().code == ErrorCode::no_device) GTEST_SKIP() << device.error().text;
    ASSERT_TRUE(device) << device.error().text;
    device_.emplace(std::move(*device));
  }

  // Every test ends with a device that still works and holds nothing.
  void TearDown() override {
    if (!device_ || IsSkipped()) return;
    EXPECT_TRUE(device_->synchronize());
    device_.reset();
  }

  [[nodiscard]] const device::Module& module() const { return *module_; }
  [[nodiscard]] const assay_backend& table() const { return module_->table(); }
  [[nodiscard]] const device::Device& device() const { return *device_; }
  [[nodiscard]] assay_device* handle() const { return device_->handle(); }
  [[nodiscard]] const Provider& provider() const { return GetParam(); }

  [[nodiscard]] bool has(std::int32_t capability) const {
    const auto answer = device_->capability(capability);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().text);
    return answer && *answer;
  }

  [[nodiscard]] device::Stream stream() const {
    auto made = device::Stream::create(*device_);
    EXPECT_TRUE(made) << (made ? "" : made.error().text);
    return std::move(made).value();
  }
  [[nodiscard]] device::Event event(bool timing = false) const {
    auto made = device::Event::create(*device_, timing);
    EXPECT_TRUE(made) << (made ? "" : made.error().text);
    return std::move(made).value();
  }

  std::optional<device::Module> module_;
  std::optional<device::Device> device_;
};

// Device memory for the length of a test.
class Buffer {
 public:
  Buffer(const device::Device& device, std::size_t bytes, std::uint32_t owner = ASSAY_OWNER_EXTERNAL)
      : device_(&device), bytes_(bytes) {
    const auto memory = device.malloc(bytes, owner);
    EXPECT_TRUE(memory) << (memory ? "" : memory.error().text);
    if (memory) address_ = *memory;
  }
  ~Buffer() { EXPECT_TRUE(device_->free(address_)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] void* get() const { return address_; }
  [[nodiscard]] std::byte* bytes() const { return static_cast<std::byte*>(address_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  const device::Device* device_;
  std::size_t bytes_;
  void* address_ = nullptr;
};

inline assay_memory_info read_memory(const device::Device& device) {
  const auto info = device.memory_info();
  EXPECT_TRUE(info) << (info ? "" : info.error().text);
  return info ? *info : assay_memory_info{};
}

inline std::vector<std::uint8_t> pattern(std::size_t bytes, std::uint32_t seed) {
  std::vector<std::uint8_t> out(bytes);
  std::uint32_t state = seed * 2654435761u + 1u;
  for (auto& value : out) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::uint8_t>(state >> 24);
  }
  return out;
}

// Enough work that whoever does not wait for it reads the old bytes.
inline void busy_fill(const device::Stream& stream, const Buffer& buffer, std::uint8_t value) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(stream.fill(buffer.get(), static_cast<std::uint8_t>(~value), buffer.size()));
  ASSERT_TRUE(stream.fill(buffer.get(), value, buffer.size()));
}

inline std::vector<std::uint8_t> download(const device::Stream& stream, const void* from, std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  EXPECT_TRUE(stream.copy(out.data(), from, bytes, ASSAY_COPY_DEVICE_TO_HOST));
  EXPECT_TRUE(stream.synchronize());
  return out;
}

}  // namespace assay::contract
