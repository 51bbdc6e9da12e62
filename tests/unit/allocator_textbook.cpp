// SPDX-License-Identifier: Apache-2.0
// The textbook case: 5 GB are free, in pieces, and 2 GB cannot be had; and failures of the device at any call of the
// policies that map memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/policy_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::testing::Category;
using assay::testing::expect_consistent;
using assay::testing::kMiB;
using assay::testing::PolicyRig;
using ::testing::HasSubstr;

constexpr std::size_t kGB = 1000 * 1000 * 1000;
constexpr std::size_t kPiece = kGB / 2;

// A device of 10.4 GB filled with twenty blocks of half a gigabyte, each cut from a whole gigabyte, of which every
// second is freed: 5 GB are free, the largest piece has half a gigabyte.
void fill(PolicyRig& rig) {
  std::vector<std::uintptr_t> whole;
  for (int i = 0; i < 10; ++i) whole.push_back(rig.take(kGB));
  for (const auto block : whole) rig.give(block);
  std::vector<std::uintptr_t> halves;
  for (int i = 0; i < 20; ++i) halves.push_back(rig.take(kPiece));
  for (std::size_t i = 0; i < halves.size(); i += 2) rig.give(halves[i]);
}

TEST(AllocatorTextbook, CachingFailsWithFiveGigabytesFree) {
  PolicyRig rig("caching", {}, 104 * kGB / 10);
  fill(rig);
  const auto refused = rig.allocator->allocate(2 * kGB, rig.stream, Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  // A segment for a gigabyte has 477 * 2 MiB = 1,000,341,504 bytes; its first half goes to a request rounded to
  // 500,000,256 and is freed; the second keeps the rest, 500,341,248, whole, because less than 1 MiB would be left.
  const auto s = rig.stats();
  EXPECT_EQ(s.reserved_bytes[0].current, 10'003'415'040);
  EXPECT_EQ(s.allocated_bytes[0].current, 5'003'412'480);
  EXPECT_THAT(refused.error().text, HasSubstr("allocated 5003412480 bytes, reserved 10003415040 bytes"));
  EXPECT_THAT(refused.error().text, HasSubstr("largest free block 500000256 bytes"));
  expect_consistent(*rig.allocator);
}

TEST(AllocatorTextbook, ExpandableSucceeds) {
  PolicyRig rig("expandable", {}, 104 * kGB / 10);
  fill(rig);
  EXPECT_NE(rig.take(2 * kGB), 0u);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.stats().num_ooms, 0);
  expect_consistent(*rig.allocator);
}

// Allocations, frees, deferred frees, a flush and an out of memory; every answer is accepted, none may corrupt.
void scenario(PolicyRig& rig, assay_stream* other) {
  std::vector<void*> live;
  const auto take = [&](std::size_t bytes, assay_stream* stream) {
    auto pointer = rig.allocator->allocate(bytes, stream, Category::activation);
    if (pointer) live.push_back(*pointer);
  };
  const auto drop = [&](std::size_t index) {
    if (index >= live.size()) return;
    if (rig.allocator->deallocate(live[index])) live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
  };
  take(512, rig.stream);
  take(30 * kMiB, rig.stream);
  take(2 * kMiB, other);
  take(18 * kMiB, other);
  if (live.size() > 1) (void)rig.allocator->record_stream(live[1], other);
  if (live.size() > 3) (void)rig.allocator->record_stream(live[3], rig.stream);
  drop(3);
  drop(1);
  take(45 * kMiB, rig.stream);
  rig.device.finish(other);
  take(50 * kMiB, rig.stream);
  take(90 * kMiB, rig.stream);
  drop(0);
  (void)rig.allocator->empty_cache();
  take(40 * kMiB, rig.stream);
  while (!live.empty()) {
    const std::size_t before = live.size();
    drop(live.size() - 1);
    if (live.size() == before) break;
  }
  (void)rig.allocator->empty_cache();
}

class AllocatorMapFaults : public ::testing::TestWithParam<const char*> {};

TEST_P(AllocatorMapFaults, EveryCallMayFailAndTheBooksStillBalance) {
  for (const assay_status status : {ASSAY_OUT_OF_MEMORY, ASSAY_MAP_LIMIT, ASSAY_DEVICE_LOST}) {
    std::size_t nth = 1;
    for (;; ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth) + " answers " + std::to_string(status));
      PolicyRig rig(GetParam(), {}, 96 * kMiB);
      auto* other = rig.device.new_stream();
      rig.device.fail_any(nth, status);
      scenario(rig, other);
      const bool reached = rig.device.failed_any();
      rig.device.stop_failing();
      expect_consistent(*rig.allocator);
      // A mapping that was made and could not be booked nor undone would show here.
      EXPECT_EQ(rig.reserved(), rig.device.held_bytes());
      EXPECT_TRUE(rig.allocator->empty_cache());
      EXPECT_TRUE(rig.allocator->allocate(512, rig.stream, Category::kv));
      expect_consistent(*rig.allocator);
      rig.allocator.reset();
      EXPECT_EQ(rig.device.held_bytes(), 0u);
      EXPECT_EQ(rig.device.reservations(), 0u);
      EXPECT_EQ(rig.device.events(), 0u);
      if (!reached || HasFailure()) break;
    }
    EXPECT_GT(nth, 20u) << "the scenario makes at least 20 device calls";
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, AllocatorMapFaults, ::testing::Values("expandable", "remapping"));

}  // namespace
