// SPDX-License-Identifier: Apache-2.0
// Contract of device memory: allocation, its readings, exhaustion and recovery, closing.
#pragma once

#include "tests/contract/parts/fixture.hpp"

namespace assay::contract {

TEST_P(BackendContract, AllocationsAreAlignedDistinctAndUsable) {
  const auto s = stream();
  std::vector<void*> blocks;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{256}, std::size_t{1000}, kMiB}) {
    const auto memory = device().malloc(bytes, ASSAY_OWNER_EXTERNAL);
    ASSERT_TRUE(memory) << memory.error().text;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*memory) % 256, 0u);
    ASSERT_TRUE(s.fill(*memory, static_cast<std::uint8_t>(blocks.size() + 1), bytes));
    for (void* other : blocks) EXPECT_NE(other, *memory);
    blocks.push_back(*memory);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(download(s, blocks[i], 1).front(), i + 1);
  for (void* block : blocks) EXPECT_TRUE(device().free(block));
}

TEST_P(BackendContract, FreeingNothingIsFine) {
  EXPECT_TRUE(device().free(nullptr));
  ASSAY_EXPECT_OK(table().host_free(handle(), nullptr));
}

TEST_P(BackendContract, ReadingsOfMemoryAreConsistent) {
  const auto info = read_memory(device());
  EXPECT_GT(info.total_bytes, 0);
  EXPECT_GE(info.used_bytes, 0);
  EXPECT_LE(info.used_bytes, info.total_bytes);
  for (const std::int64_t bytes : {info.walked_bytes, info.allocator_bytes, info.external_bytes}) {
    EXPECT_GE(bytes, -1);
    EXPECT_LE(bytes, info.total_bytes);
  }
  for (const char* source : {info.used_source, info.walked_source, info.external_source}) {
    ASSERT_NE(source, nullptr);
    EXPECT_STRNE(source, "");
  }
}

TEST_P(BackendContract, MemoryStandsOnTheAccountOfWhoAskedForIt) {
  const auto before = read_memory(device());
  const auto difference = [&](std::int64_t assay_memory_info::*field, const assay_memory_info& now) {
    return now.*field - before.*field;
  };
  const auto expect_accounts = [&](std::int64_t allocator, std::int64_t external) {
    const auto now = read_memory(device());
    if (provider().exact_books) {
      EXPECT_EQ(difference(&assay_memory_info::used_bytes, now), allocator + external);
      EXPECT_EQ(difference(&assay_memory_info::walked_bytes, now), allocator + external);
    }
    if (now.allocator_bytes >= 0) {
      EXPECT_EQ(difference(&assay_memory_info::allocator_bytes, now), allocator);
    }
    if (now.external_bytes >= 0) {
      EXPECT_EQ(difference(&assay_memory_info::external_bytes, now), external);
    }
  };
  constexpr auto kEight = static_cast<std::int64_t>(8 * kMiB);
  constexpr auto kFour = static_cast<std::int64_t>(4 * kMiB);
  {
    Buffer outside(device(), 8 * kMiB, ASSAY_OWNER_EXTERNAL);
    expect_accounts(0, kEight);
    Buffer ours(device(), 4 * kMiB, ASSAY_OWNER_ALLOCATOR);
    expect_accounts(kFour, kEight);
  }
  expect_accounts(0, 0);
}

TEST_P(BackendContract, MoreThanTheDeviceHasIsOutOfMemoryAndNothingIsLost) {
  const auto before = read_memory(device());
  const auto s = stream();
  Buffer kept(device(), kMiB);
  ASSERT_TRUE(s.fill(kept.get(), 0x42, kept.size()));
  for (const std::size_t bytes : {static_cast<std::size_t>(before.total_bytes) + kMiB, std::size_t{1} << 46}) {
    const auto refused = device().malloc(bytes, ASSAY_OWNER_ALLOCATOR);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory) << refused.error().text;
    EXPECT_NE(refused.error().text.find(std::to_string(bytes)), std::string::npos) << refused.error().text;
  }
  if (provider().exact_books) {
    const auto now = read_memory(device());
    EXPECT_EQ(now.used_bytes, before.used_bytes + static_cast<std::int64_t>(kMiB));
    EXPECT_EQ(now.allocator_bytes, before.allocator_bytes);
  }
  Buffer more(device(), kMiB);                                                      // memory is still to be had,
  ASSERT_TRUE(s.copy(more.get(), kept.get(), kMiB, ASSAY_COPY_DEVICE_TO_DEVICE));   // the device still works
  EXPECT_EQ(download(s, more.get(), kMiB), std::vector<std::uint8_t>(kMiB, 0x42));  // and no byte changed
}

TEST_P(BackendContract, ABudgetFilledToTheBrimCanBeUsedAgain) {
  if (!provider().exact_books) GTEST_SKIP() << "filling a board that others use is not a test";
  const auto total = static_cast<std::size_t>(read_memory(device()).total_bytes);
  const std::size_t piece = total / 8 / (2 * kMiB) * (2 * kMiB);
  ASSERT_GT(piece, 0u) << "the provider's budget is too small";
  std::vector<void*> pieces;
  for (;;) {
    const auto memory = device().malloc(piece, ASSAY_OWNER_ALLOCATOR);
    if (!memory) {
      EXPECT_EQ(memory.error().code, ErrorCode::out_of_memory);
      break;
    }
    pieces.push_back(*memory);
    ASSERT_LE(pieces.size(), 8 + 1u);
  }
  EXPECT_GE(pieces.size(), 8u);
  EXPECT_TRUE(device().free(pieces.back()));
  pieces.pop_back();
  const auto again = device().malloc(piece, ASSAY_OWNER_ALLOCATOR);
  ASSERT_TRUE(again) << again.error().text;
  pieces.push_back(*again);
  for (void* memory : pieces) EXPECT_TRUE(device().free(memory));
  EXPECT_EQ(read_memory(device()).used_bytes, 0);
}

TEST_P(BackendContract, FreeWaitsForWorkThatUsesTheMemory) {
  const auto s = stream();
  const auto other = stream();
  Buffer kept(device(), 32 * kMiB);
  const auto memory = device().malloc(kept.size(), ASSAY_OWNER_EXTERNAL);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(s.fill(*memory, 0x66, kept.size()));
  ASSERT_TRUE(s.copy(kept.get(), *memory, kept.size(), ASSAY_COPY_DEVICE_TO_DEVICE));
  ASSERT_TRUE(device().free(*memory));
  EXPECT_EQ(download(other, kept.bytes() + kept.size() - 1, 1).front(), 0x66);
}

TEST_P(BackendContract, ClosingFreesWhatIsLeftAndOpeningAgainFindsItFree) {
  const auto before = read_memory(device());
  for (int round = 0; round < 3; ++round) {
    auto left = device::Device::open(module(), provider().ordinal, provider().options);
    ASSERT_TRUE(left) << left.error().text;
    assay_stream* s = nullptr;
    assay_event* e = nullptr;
    void* memory = nullptr;
    void* host = nullptr;
    ASSAY_ASSERT_OK(table().stream_create(left->handle(), 0, &s));
    ASSAY_ASSERT_OK(table().event_create(left->handle(), ASSAY_EVENT_TIMING, &e));
    ASSAY_ASSERT_OK(table().malloc(left->handle(), 4 * kMiB, ASSAY_OWNER_EXTERNAL, &memory));
    ASSAY_ASSERT_OK(table().host_malloc(left->handle(), kMiB, &host));
    ASSAY_ASSERT_OK(table().fill(s, memory, 1, 4 * kMiB));
    ASSAY_ASSERT_OK(table().event_record(e, s));
  }
  device_.reset();
  auto again = device::Device::open(module(), provider().ordinal, provider().options);
  ASSERT_TRUE(again) << again.error().text;
  device_.emplace(std::move(*again));
  if (provider().exact_books) {
    EXPECT_EQ(read_memory(device()).used_bytes, before.used_bytes);
  }
}

TEST_P(BackendContract, BytesTravelBetweenTwoDevices) {
  const auto count = module().device_count();
  ASSERT_TRUE(count) << count.error().text;
  if (*count < 2 || !has(ASSAY_CAPABILITY_PEER)) GTEST_SKIP() << "one device, or no way between two";
  auto second = device::Device::open(module(), provider().ordinal == 0 ? 1 : 0, provider().options);
  ASSERT_TRUE(second) << second.error().text;
  {
    const auto s = stream();
    Buffer here(device(), kMiB);
    Buffer there(*second, kMiB);
    Buffer back(device(), kMiB);
    const auto sent = pattern(kMiB, 7);
    ASSERT_TRUE(s.copy(here.get(), sent.data(), kMiB, ASSAY_COPY_HOST_TO_DEVICE));
    ASSAY_ASSERT_OK(table().peer_copy(s.handle(), there.get(), second->handle(), here.get(), handle(), kMiB));
    ASSAY_ASSERT_OK(table().peer_copy(s.handle(), back.get(), handle(), there.get(), second->handle(), kMiB));
    EXPECT_EQ(download(s, back.get(), kMiB), sent);
    ASSAY_EXPECT_STATUS(table().peer_copy(s.handle(), there.get(), nullptr, here.get(), handle(), kMiB),
                        ASSAY_INVALID_VALUE);
    ASSAY_EXPECT_STATUS(table().peer_copy(s.handle(), nullptr, second->handle(), here.get(), handle(), kMiB),
                        ASSAY_INVALID_VALUE);
  }
}

}  // namespace assay::contract
