// SPDX-License-Identifier: Apache-2.0
// Contract of virtual memory management: ranges, physical memory, mappings, and what survives them.
#pragma once

#include "tests/contract/parts/fixture.hpp"
#include "tests/contract/parts/memory.hpp"

namespace assay::contract {

class VirtualMemoryContract : public BackendContract {
 protected:
  void SetUp() override {
    BackendContract::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!has(ASSAY_CAPABILITY_VMM)) {
      void* out = nullptr;
      ASSAY_EXPECT_STATUS(table().vmm_reserve(handle(), std::size_t{2} << 20, &out), ASSAY_UNSUPPORTED);
      GTEST_SKIP() << "this device has no virtual memory management";
    }
    std::size_t minimum = 0;
    std::size_t recommended = 0;
    ASSAY_ASSERT_OK(table().vmm_granularity(handle(), &minimum, &recommended));
    ASSERT_GT(minimum, 0u);
    ASSERT_GE(recommended, minimum);
    ASSERT_EQ(recommended % minimum, 0u);
    // Whole 2 MiB, so that the test is small on no device and a legal size on all.
    granule_ = (2 * kMiB + recommended - 1) / recommended * recommended;
  }

  [[nodiscard]] std::byte* reserve(std::size_t granules) const {
    void* out = nullptr;
    ASSAY_EXPECT_OK(table().vmm_reserve(handle(), granules * granule_, &out));
    return static_cast<std::byte*>(out);
  }
  [[nodiscard]] assay_physical* create(std::size_t granules, std::uint32_t owner = ASSAY_OWNER_ALLOCATOR) const {
    assay_physical* out = nullptr;
    ASSAY_EXPECT_OK(table().vmm_create(handle(), granules * granule_, owner, &out));
    return out;
  }

  std::size_t granule_ = 0;
};

TEST_P(VirtualMemoryContract, MappedMemoryIsMemory) {
  std::byte* range = reserve(4);
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range) % granule_, 0u);
  assay_physical* first = create(1);
  assay_physical* second = create(2);
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range, granule_, first));
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range + granule_, 2 * granule_, second));
  {
    const auto s = stream();
    const auto sent = pattern(3 * granule_, 3);  // across the border of two mappings
    ASSERT_TRUE(s.copy(range, sent.data(), sent.size(), ASSAY_COPY_HOST_TO_DEVICE));
    EXPECT_EQ(download(s, range, sent.size()), sent);
    ASSERT_TRUE(s.fill(range + granule_ - 8, 0x5A, 16));
    EXPECT_EQ(download(s, range + granule_ - 8, 16), std::vector<std::uint8_t>(16, 0x5A));
  }
  ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range, granule_));
  ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range + granule_, 2 * granule_));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), first));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), second));
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, 4 * granule_));
}

TEST_P(VirtualMemoryContract, BytesStayWithThePhysicalMemory) {
  std::byte* range = reserve(4);
  ASSERT_NE(range, nullptr);
  assay_physical* physical = create(1);
  const auto sent = pattern(granule_, 11);
  const auto s = stream();
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range, granule_, physical));
  ASSERT_TRUE(s.copy(range, sent.data(), sent.size(), ASSAY_COPY_HOST_TO_DEVICE));
  ASSERT_TRUE(s.synchronize());
  ASSAY_ASSERT_OK(table().vmm_unmap(handle(), range, granule_));
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range + 2 * granule_, granule_, physical));
  EXPECT_EQ(download(s, range + 2 * granule_, sent.size()), sent);
  ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range + 2 * granule_, granule_));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), physical));
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, 4 * granule_));
}

TEST_P(VirtualMemoryContract, OnePieceMayBeSeenAtTwoAddresses) {
  std::byte* range = reserve(2);
  ASSERT_NE(range, nullptr);
  assay_physical* physical = create(1);
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range, granule_, physical));
  const auto twice = table().vmm_map(handle(), range + granule_, granule_, physical);
  if (twice == ASSAY_OK) {
    const auto s = stream();
    ASSERT_TRUE(s.fill(range, 0x19, granule_));
    ASSERT_TRUE(s.synchronize());
    EXPECT_EQ(download(s, range + granule_ + 100, 1).front(), 0x19);
    ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range + granule_, granule_));
  } else {
    EXPECT_EQ(twice, ASSAY_UNSUPPORTED) << table().last_error();
  }
  ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range, granule_));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), physical));
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, 2 * granule_));
}

TEST_P(VirtualMemoryContract, ReservingIsFreeAndPhysicalMemoryIsCharged) {
  const auto before = read_memory(device());
  std::byte* range = reserve(1024);  // larger than many budgets: an address range is not memory
  ASSERT_NE(range, nullptr);
  auto now = read_memory(device());
  if (provider().exact_books) {
    EXPECT_EQ(now.used_bytes, before.used_bytes);
  }
  assay_physical* ours = create(2, ASSAY_OWNER_ALLOCATOR);
  assay_physical* outside = create(1, ASSAY_OWNER_EXTERNAL);
  now = read_memory(device());
  const auto granule = static_cast<std::int64_t>(granule_);
  if (provider().exact_books) {
    EXPECT_EQ(now.used_bytes - before.used_bytes, 3 * granule);
    EXPECT_EQ(now.walked_bytes - before.walked_bytes, 3 * granule);
  }
  if (before.allocator_bytes >= 0) {
    EXPECT_EQ(now.allocator_bytes - before.allocator_bytes, 2 * granule);
  }
  if (before.external_bytes >= 0) {
    EXPECT_EQ(now.external_bytes - before.external_bytes, granule);
  }
  ASSAY_EXPECT_OK(table().vmm_release(handle(), ours));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), outside));
  now = read_memory(device());
  if (provider().exact_books) {
    EXPECT_EQ(now.used_bytes, before.used_bytes);
    EXPECT_EQ(now.walked_bytes, before.walked_bytes);
  }
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, 1024 * granule_));
}

TEST_P(VirtualMemoryContract, MorePhysicalMemoryThanThereIsIsOutOfMemory) {
  const auto total = static_cast<std::size_t>(read_memory(device()).total_bytes);
  const std::size_t bytes = (total / granule_ + 2) * granule_;
  assay_physical* out = nullptr;
  ASSAY_EXPECT_STATUS(table().vmm_create(handle(), bytes, ASSAY_OWNER_ALLOCATOR, &out), ASSAY_OUT_OF_MEMORY);
  EXPECT_EQ(out, nullptr);
  assay_physical* small = create(1);
  ASSERT_NE(small, nullptr);
  ASSAY_EXPECT_OK(table().vmm_release(handle(), small));
}

TEST_P(VirtualMemoryContract, WrongCallsAreRefused) {
  std::byte* range = reserve(4);
  ASSERT_NE(range, nullptr);
  assay_physical* physical = create(1);
  ASSERT_NE(physical, nullptr);
  void* out = nullptr;
  assay_physical* made = nullptr;
  std::size_t size = 0;
  const auto refuse = [&](assay_status status) {
    EXPECT_EQ(status, ASSAY_INVALID_VALUE) << table().last_error();
    EXPECT_STRNE(table().last_error(), "");
  };
  refuse(table().vmm_granularity(handle(), nullptr, &size));
  refuse(table().vmm_granularity(nullptr, &size, &size));
  refuse(table().vmm_reserve(handle(), 0, &out));
  refuse(table().vmm_reserve(handle(), granule_ + 1, &out));
  refuse(table().vmm_reserve(handle(), granule_, nullptr));
  refuse(table().vmm_create(handle(), 0, ASSAY_OWNER_ALLOCATOR, &made));
  refuse(table().vmm_create(handle(), granule_ + 1, ASSAY_OWNER_ALLOCATOR, &made));
  refuse(table().vmm_create(handle(), granule_, 9, &made));
  refuse(table().vmm_create(handle(), granule_, ASSAY_OWNER_ALLOCATOR, nullptr));
  refuse(table().vmm_map(handle(), range, granule_, nullptr));
  refuse(table().vmm_map(handle(), nullptr, granule_, physical));
  refuse(table().vmm_map(handle(), range, 2 * granule_, physical));             // not the size of the physical memory
  refuse(table().vmm_map(handle(), range + 256, granule_, physical));           // unaligned
  refuse(table().vmm_map(handle(), range + 4 * granule_, granule_, physical));  // outside the range
  ASSAY_ASSERT_OK(table().vmm_map(handle(), range, granule_, physical));
  assay_physical* other = create(2);
  refuse(table().vmm_map(handle(), range, 2 * granule_, other));  // over a live mapping
  refuse(table().vmm_unreserve(handle(), range, 4 * granule_));   // still mapped
  refuse(table().vmm_unmap(handle(), range, 2 * granule_));       // more than was mapped
  refuse(table().vmm_unmap(handle(), range + granule_, granule_));
  ASSAY_EXPECT_OK(table().vmm_unmap(handle(), range, granule_));
  refuse(table().vmm_unmap(handle(), range, granule_));  // twice
  refuse(table().vmm_unreserve(handle(), range, 2 * granule_));
  refuse(table().vmm_unreserve(handle(), range + granule_, granule_));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), physical));
  ASSAY_EXPECT_OK(table().vmm_release(handle(), other));
  refuse(table().vmm_release(handle(), nullptr));
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, 4 * granule_));
  refuse(table().vmm_unreserve(handle(), range, 4 * granule_));
  EXPECT_EQ(made, nullptr);
}

TEST_P(VirtualMemoryContract, PiecesComeAndGoManyTimes) {
  constexpr std::size_t kPieces = 16;
  std::byte* range = reserve(kPieces);
  ASSERT_NE(range, nullptr);
  const auto s = stream();
  for (std::size_t round = 0; round < 4; ++round) {
    std::vector<assay_physical*> pieces;
    for (std::size_t i = 0; i < kPieces; ++i) {
      pieces.push_back(create(1));
      ASSAY_ASSERT_OK(table().vmm_map(handle(), range + i * granule_, granule_, pieces.back()));
    }
    ASSERT_TRUE(s.fill(range, static_cast<std::uint8_t>(round + 1), kPieces * granule_));
    EXPECT_EQ(download(s, range + kPieces * granule_ - 1, 1).front(), round + 1);
    for (std::size_t i = 0; i < kPieces; ++i) {
      const std::size_t at = (i * 7 + round) % kPieces;  // in another order each time
      ASSAY_ASSERT_OK(table().vmm_unmap(handle(), range + at * granule_, granule_));
      ASSAY_ASSERT_OK(table().vmm_release(handle(), pieces[at]));
    }
  }
  ASSAY_EXPECT_OK(table().vmm_unreserve(handle(), range, kPieces * granule_));
}

}  // namespace assay::contract
