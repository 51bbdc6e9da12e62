// SPDX-License-Identifier: Apache-2.0
// Contract of wrong calls: INVALID_VALUE with a sentence, results untouched, the device still usable.
#pragma once

#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

TEST_P(BackendContract, OpeningWhatIsNotThereIsRefused) {
  std::int32_t count = 0;
  ASSAY_ASSERT_OK(table().device_count(&count));
  EXPECT_GE(count, 1);
  assay_device* out = nullptr;
  for (const std::int32_t wrong : {-1, count, 4096})
    ASSAY_EXPECT_STATUS(table().device_open(wrong, nullptr, 0, &out), ASSAY_INVALID_VALUE);
  const assay_option unknown{"no_such_option", "1"};
  ASSAY_EXPECT_STATUS(table().device_open(provider().ordinal, &unknown, 1, &out), ASSAY_INVALID_VALUE);
  const assay_option no_value{"no_such_option", nullptr};
  ASSAY_EXPECT_STATUS(table().device_open(provider().ordinal, &no_value, 1, &out), ASSAY_INVALID_VALUE);
  const assay_option no_key{nullptr, "1"};
  ASSAY_EXPECT_STATUS(table().device_open(provider().ordinal, &no_key, 1, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_open(provider().ordinal, nullptr, 1, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_open(provider().ordinal, nullptr, 0, nullptr), ASSAY_INVALID_VALUE);
  EXPECT_EQ(out, nullptr);
}

TEST_P(BackendContract, NullResultsAreRefused) {
  const auto e = event(true);
  const auto s = stream();
  ASSAY_EXPECT_STATUS(table().kernel_count(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().kernel_info(0, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_count(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().describe(nullptr, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_identity(handle(), nullptr, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_sensors(handle(), nullptr, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_capability(handle(), ASSAY_CAPABILITY_VMM, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().memory_info(handle(), nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().malloc(handle(), 1, ASSAY_OWNER_EXTERNAL, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_malloc(handle(), 1, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_create(handle(), 0, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_create(handle(), 0, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_elapsed(e.handle(), e.handle(), nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().kernel_resources(handle(), 0, nullptr), ASSAY_INVALID_VALUE);
}

TEST_P(BackendContract, NullHandlesAreRefused) {
  const auto s = stream();
  const auto e = event();
  void* out = nullptr;
  std::int32_t number = -1;
  assay_memory_info info{};
  assay_stream* made_stream = nullptr;
  assay_event* made_event = nullptr;
  double ns = 0;
  assay_kernel_resources resources{};
  const auto ignore = [](void*, const assay_field*) {};
  ASSAY_EXPECT_STATUS(table().device_close(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_identity(nullptr, ignore, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_sensors(nullptr, ignore, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_capability(nullptr, ASSAY_CAPABILITY_VMM, &number), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_synchronize(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().memory_info(nullptr, &info), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().malloc(nullptr, 1, ASSAY_OWNER_EXTERNAL, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().free(nullptr, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_malloc(nullptr, 1, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_free(nullptr, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_create(nullptr, 0, &made_stream), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_destroy(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_query(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_synchronize(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_wait_event(nullptr, e.handle()), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_wait_event(s.handle(), nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_create(nullptr, 0, &made_event), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_destroy(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_record(nullptr, s.handle()), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_record(e.handle(), nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_query(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_synchronize(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_elapsed(nullptr, e.handle(), &ns), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_elapsed(e.handle(), nullptr, &ns), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().kernel_resources(nullptr, 0, &resources), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().copy(nullptr, &number, &number, 1, ASSAY_COPY_HOST_TO_DEVICE), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().fill(nullptr, &number, 0, 1), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().peer_copy(nullptr, &number, handle(), &number, handle(), 1), ASSAY_INVALID_VALUE);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(made_stream, nullptr);
  EXPECT_EQ(made_event, nullptr);
  EXPECT_EQ(number, -1);
}

TEST_P(BackendContract, WrongArgumentsOfMemoryAreRefused) {
  void* out = nullptr;
  ASSAY_EXPECT_STATUS(table().malloc(handle(), 0, ASSAY_OWNER_EXTERNAL, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().malloc(handle(), 1, 7, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_malloc(handle(), 0, &out), ASSAY_INVALID_VALUE);
  EXPECT_EQ(out, nullptr);
  int local = 0;
  ASSAY_EXPECT_STATUS(table().free(handle(), &local), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_free(handle(), &local), ASSAY_INVALID_VALUE);
  const auto memory = device().malloc(kMiB, ASSAY_OWNER_EXTERNAL);
  ASSERT_TRUE(memory);
  ASSAY_EXPECT_STATUS(table().free(handle(), static_cast<std::byte*>(*memory) + 256), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().host_free(handle(), *memory), ASSAY_INVALID_VALUE);
  EXPECT_TRUE(device().free(*memory));
  ASSAY_EXPECT_STATUS(table().free(handle(), *memory), ASSAY_INVALID_VALUE);  // a second time
}

TEST_P(BackendContract, WrongCopiesAndFillsAreRefused) {
  const auto s = stream();
  Buffer buffer(device(), 4096);
  std::vector<std::uint8_t> host(4096);
  const auto refuse = [&](void* to, const void* from, std::size_t bytes, std::int32_t kind) {
    ASSAY_EXPECT_STATUS(table().copy(s.handle(), to, from, bytes, kind), ASSAY_INVALID_VALUE);
  };
  refuse(buffer.get(), host.data(), 16, 0);
  refuse(buffer.get(), host.data(), 16, 4);
  refuse(nullptr, host.data(), 16, ASSAY_COPY_HOST_TO_DEVICE);
  refuse(buffer.get(), nullptr, 16, ASSAY_COPY_HOST_TO_DEVICE);
  refuse(host.data(), nullptr, 16, ASSAY_COPY_DEVICE_TO_HOST);
  refuse(nullptr, buffer.get(), 16, ASSAY_COPY_DEVICE_TO_HOST);
  refuse(nullptr, buffer.get(), 16, ASSAY_COPY_DEVICE_TO_DEVICE);
  ASSAY_EXPECT_STATUS(table().fill(s.handle(), nullptr, 0, 16), ASSAY_INVALID_VALUE);
  if (!provider().detects_bad_pointers) return;
  const std::size_t beyond = std::size_t{1} << 40;
  refuse(buffer.get(), host.data(), beyond, ASSAY_COPY_HOST_TO_DEVICE);
  refuse(host.data(), buffer.get(), beyond, ASSAY_COPY_DEVICE_TO_HOST);
  refuse(buffer.get(), host.data(), 16, ASSAY_COPY_DEVICE_TO_DEVICE);
  refuse(host.data(), buffer.get(), 16, ASSAY_COPY_HOST_TO_DEVICE);
  refuse(buffer.get(), buffer.get(), 16, ASSAY_COPY_HOST_TO_DEVICE);
  refuse(buffer.get(), buffer.get(), SIZE_MAX, ASSAY_COPY_DEVICE_TO_DEVICE);
  ASSAY_EXPECT_STATUS(table().fill(s.handle(), host.data(), 0, 16), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().fill(s.handle(), buffer.get(), 0, beyond), ASSAY_INVALID_VALUE);
}

TEST_P(BackendContract, DestroyedHandlesAreRefused) {
  if (!provider().detects_stale_handles) GTEST_SKIP() << "this runtime cannot tell a destroyed handle";
  assay_stream* s = nullptr;
  assay_event* e = nullptr;
  ASSAY_ASSERT_OK(table().stream_create(handle(), 0, &s));
  ASSAY_ASSERT_OK(table().event_create(handle(), 0, &e));
  ASSAY_ASSERT_OK(table().stream_destroy(s));
  ASSAY_ASSERT_OK(table().event_destroy(e));
  ASSAY_EXPECT_STATUS(table().stream_synchronize(s), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().stream_destroy(s), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_query(e), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_destroy(e), ASSAY_INVALID_VALUE);
  const auto live = stream();
  ASSAY_EXPECT_STATUS(table().stream_query(reinterpret_cast<assay_stream*>(handle())), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().event_query(reinterpret_cast<assay_event*>(live.handle())), ASSAY_INVALID_VALUE);
}

TEST_P(BackendContract, AnEventIsRecordedOnStreamsOfItsOwnDevice) {
  const auto count = module().device_count();
  ASSERT_TRUE(count);
  if (*count < 2) GTEST_SKIP() << "one device";
  auto second = device::Device::open(module(), provider().ordinal == 0 ? 1 : 0, provider().options);
  ASSERT_TRUE(second) << second.error().text;
  const auto elsewhere = device::Stream::create(*second);
  ASSERT_TRUE(elsewhere);
  const auto e = event();
  const auto s = stream();
  ASSAY_EXPECT_STATUS(table().event_record(e.handle(), elsewhere->handle()), ASSAY_INVALID_VALUE);
  ASSERT_TRUE(e.record(s));  // but streams of other devices may wait for it
  EXPECT_TRUE(elsewhere->wait(e));
  EXPECT_TRUE(elsewhere->synchronize());
}

}  // namespace assay::contract
