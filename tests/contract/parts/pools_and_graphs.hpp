// SPDX-License-Identifier: Apache-2.0
// Contract of the runtime's own pool and of captured graphs, each where the device offers it, refused where not.
#pragma once

#include "tests/contract/parts/fixture.hpp"
#include "tests/contract/parts/memory.hpp"

namespace assay::contract {

class PoolContract : public BackendContract {
 protected:
  void SetUp() override {
    BackendContract::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!has(ASSAY_CAPABILITY_POOL)) {
      assay_pool* none = nullptr;
      ASSAY_EXPECT_STATUS(table().pool_create(handle(), &none), ASSAY_UNSUPPORTED);
      EXPECT_EQ(none, nullptr);
      GTEST_SKIP() << "this device has no pool of its own";
    }
    ASSAY_ASSERT_OK(table().pool_create(handle(), &pool_));
  }
  void TearDown() override {
    if (pool_ != nullptr) {
      ASSAY_EXPECT_OK(table().pool_destroy(pool_));
    }
    BackendContract::TearDown();
  }

  [[nodiscard]] void* take(std::size_t bytes, const device::Stream& s) const {
    void* out = nullptr;
    ASSAY_EXPECT_OK(table().pool_malloc(pool_, bytes, s.handle(), &out));
    return out;
  }
  [[nodiscard]] std::uint64_t read(std::int32_t attribute) const {
    std::uint64_t value = 0;
    ASSAY_EXPECT_OK(table().pool_get(pool_, attribute, &value));
    return value;
  }

  assay_pool* pool_ = nullptr;
};

TEST_P(PoolContract, PooledMemoryIsMemoryAndIsCounted) {
  const auto s = stream();
  void* memory = take(3 * kMiB, s);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  const auto sent = pattern(3 * kMiB, 5);
  ASSERT_TRUE(s.copy(memory, sent.data(), sent.size(), ASSAY_COPY_HOST_TO_DEVICE));
  EXPECT_EQ(download(s, memory, sent.size()), sent);
  EXPECT_GE(read(ASSAY_POOL_USED_CURRENT), 3 * kMiB);
  EXPECT_GE(read(ASSAY_POOL_RESERVED_CURRENT), read(ASSAY_POOL_USED_CURRENT));
  ASSAY_EXPECT_OK(table().pool_free(pool_, memory, s.handle()));
  ASSERT_TRUE(s.synchronize());
  EXPECT_EQ(read(ASSAY_POOL_USED_CURRENT), 0u);
  EXPECT_GE(read(ASSAY_POOL_USED_HIGH), 3 * kMiB);
  EXPECT_GE(read(ASSAY_POOL_RESERVED_HIGH), read(ASSAY_POOL_USED_HIGH));
}

TEST_P(PoolContract, MemoryFreedOnAStreamIsReusableOnIt) {
  const auto s = stream();
  ASSAY_EXPECT_OK(table().pool_set(pool_, ASSAY_POOL_RELEASE_THRESHOLD, UINT64_MAX));
  for (int round = 0; round < 8; ++round) {
    void* memory = take(2 * kMiB, s);
    ASSERT_NE(memory, nullptr);
    ASSERT_TRUE(s.fill(memory, static_cast<std::uint8_t>(round), 2 * kMiB));
    ASSAY_ASSERT_OK(table().pool_free(pool_, memory, s.handle()));
  }
  ASSERT_TRUE(s.synchronize());
  // Eight blocks one after the other on one stream need the room of few.
  EXPECT_LE(read(ASSAY_POOL_USED_HIGH), 8 * 2 * kMiB);
  EXPECT_GE(read(ASSAY_POOL_RESERVED_HIGH), 2 * kMiB);
}

TEST_P(PoolContract, TrimGivesBackWhatIsFree) {
  const auto s = stream();
  ASSAY_EXPECT_OK(table().pool_set(pool_, ASSAY_POOL_RELEASE_THRESHOLD, UINT64_MAX));
  EXPECT_EQ(read(ASSAY_POOL_RELEASE_THRESHOLD), UINT64_MAX);
  void* memory = take(4 * kMiB, s);
  ASSERT_NE(memory, nullptr);
  ASSAY_EXPECT_OK(table().pool_free(pool_, memory, s.handle()));
  ASSERT_TRUE(s.synchronize());
  ASSAY_EXPECT_OK(table().pool_trim(pool_, 0));
  EXPECT_EQ(read(ASSAY_POOL_RESERVED_CURRENT), 0u);
}

TEST_P(PoolContract, PeaksAreResetToWhatIsUsedNow) {
  const auto s = stream();
  void* memory = take(2 * kMiB, s);
  void* more = take(6 * kMiB, s);
  ASSAY_EXPECT_OK(table().pool_free(pool_, more, s.handle()));
  ASSERT_TRUE(s.synchronize());
  EXPECT_GE(read(ASSAY_POOL_USED_HIGH), 8 * kMiB);
  ASSAY_EXPECT_OK(table().pool_set(pool_, ASSAY_POOL_USED_HIGH, 0));
  EXPECT_EQ(read(ASSAY_POOL_USED_HIGH), read(ASSAY_POOL_USED_CURRENT));
  ASSAY_EXPECT_OK(table().pool_free(pool_, memory, s.handle()));
  ASSERT_TRUE(s.synchronize());
}

TEST_P(PoolContract, WrongCallsAreRefused) {
  const auto s = stream();
  void* out = nullptr;
  std::uint64_t value = 0;
  int local = 0;
  ASSAY_EXPECT_STATUS(table().pool_create(handle(), nullptr), ASSAY_INVALID_VALUE);
  assay_pool* none = nullptr;
  ASSAY_EXPECT_STATUS(table().pool_create(nullptr, &none), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_malloc(pool_, 0, s.handle(), &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_malloc(pool_, 1, nullptr, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_malloc(nullptr, 1, s.handle(), &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_malloc(pool_, 1, s.handle(), nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_free(pool_, &local, s.handle()), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_get(pool_, 99, &value), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_get(pool_, ASSAY_POOL_USED_HIGH, nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_set(pool_, 99, 0), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().pool_destroy(nullptr), ASSAY_INVALID_VALUE);
  EXPECT_EQ(out, nullptr);
}

class GraphContract : public BackendContract {
 protected:
  void SetUp() override {
    BackendContract::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (has(ASSAY_CAPABILITY_GRAPH)) return;
    const auto s = stream();
    assay_graph* none = nullptr;
    ASSAY_EXPECT_STATUS(table().graph_begin(s.handle()), ASSAY_UNSUPPORTED);
    ASSAY_EXPECT_STATUS(table().graph_end(s.handle(), &none), ASSAY_UNSUPPORTED);
    EXPECT_EQ(none, nullptr);
    GTEST_SKIP() << "this device has no graphs";
  }
};

TEST_P(GraphContract, ACapturedFillRunsOncePerLaunchAndNotWhileCaptured) {
  const auto s = stream();
  Buffer buffer(device(), kMiB);
  ASSERT_TRUE(s.fill(buffer.get(), 1, buffer.size()));
  ASSERT_TRUE(s.synchronize());
  ASSAY_ASSERT_OK(table().graph_begin(s.handle()));
  ASSERT_TRUE(s.fill(buffer.get(), 2, buffer.size()));
  assay_graph* graph = nullptr;
  ASSAY_ASSERT_OK(table().graph_end(s.handle(), &graph));
  EXPECT_EQ(download(s, buffer.get(), 1).front(), 1);
  for (int round = 0; round < 2; ++round) {
    ASSAY_ASSERT_OK(table().graph_launch(graph, s.handle()));
    EXPECT_EQ(download(s, buffer.bytes() + buffer.size() - 1, 1).front(), 2);
    ASSERT_TRUE(s.fill(buffer.get(), 3, buffer.size()));
  }
  ASSERT_TRUE(s.synchronize());
  ASSAY_EXPECT_OK(table().graph_destroy(graph));
}

TEST_P(GraphContract, MemoryAndWaitingAreRefusedWhileCapturing) {
  const auto s = stream();
  Buffer buffer(device(), kMiB);
  ASSAY_ASSERT_OK(table().graph_begin(s.handle()));
  void* out = nullptr;
  ASSAY_EXPECT_STATUS(table().malloc(handle(), kMiB, ASSAY_OWNER_EXTERNAL, &out), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().free(handle(), buffer.get()), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().device_synchronize(handle()), ASSAY_INVALID_VALUE);
  ASSERT_TRUE(s.fill(buffer.get(), 1, buffer.size()));
  assay_graph* graph = nullptr;
  ASSAY_ASSERT_OK(table().graph_end(s.handle(), &graph));
  ASSAY_EXPECT_OK(table().graph_destroy(graph));
  EXPECT_TRUE(device().synchronize());
}

TEST_P(GraphContract, WrongCallsAreRefused) {
  const auto s = stream();
  assay_graph* graph = nullptr;
  ASSAY_EXPECT_STATUS(table().graph_begin(nullptr), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().graph_end(nullptr, &graph), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().graph_end(s.handle(), &graph), ASSAY_INVALID_VALUE);  // nothing was begun
  ASSAY_EXPECT_STATUS(table().graph_launch(nullptr, s.handle()), ASSAY_INVALID_VALUE);
  ASSAY_EXPECT_STATUS(table().graph_destroy(nullptr), ASSAY_INVALID_VALUE);
  EXPECT_EQ(graph, nullptr);
}

}  // namespace assay::contract
