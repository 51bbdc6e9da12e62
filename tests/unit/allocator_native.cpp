// SPDX-License-Identifier: Apache-2.0
// The native policy: what is tried before it is used, who may reuse a block when, and what it says of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/allocator/make_allocator.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using assay::ErrorCode;
using assay::allocator::make_allocator;
using assay::testing::Call;
using assay::testing::FakeDevice;
using assay::testing::kMiB;
using assay::testing::PolicyRig;

constexpr std::size_t kRoom = 512 * kMiB;

std::string all_notes(const assay::allocator::Allocator& allocator) {
  std::string text;
  for (const auto& note : allocator.notes()) text += note + "\n";
  return text;
}

TEST(AllocatorNative, ADeviceWithoutAPoolIsRefusedWithTheReason) {
  FakeDevice device(kRoom);
  device.offer_pool(false);
  const auto refused = make_allocator("native", "", FakeDevice::table(), device.handle());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text, ::testing::HasSubstr("choose caching"));
}

// Whichever of the probe's allocations overwrites a live block, the pool is refused.
TEST(AllocatorNative, APoolThatOverwritesLiveMemoryIsRefused) {
  for (const unsigned nth : {2u, 3u, 7u, 20u, 48u, 95u}) {
    FakeDevice device(kRoom, FakeDevice::Memory::host);
    device.finish_at_record(true);
    device.zero_a_live_block_at(nth);
    const auto refused = make_allocator("native", "", FakeDevice::table(), device.handle());
    ASSERT_FALSE(refused) << nth;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().text, ::testing::HasSubstr("live block"));
    EXPECT_EQ(device.held_bytes(), 0u);
  }
}

TEST(AllocatorNative, ASoundPoolIsNotRefusedAndNothingOfTheProbesStays) {
  FakeDevice device(kRoom, FakeDevice::Memory::host);
  device.finish_at_record(true);
  const auto made = make_allocator("native", "", FakeDevice::table(), device.handle());
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(device.held_bytes(), 0u);
  EXPECT_EQ((*made)->statistics().reserved_bytes[0].peak, 0) << "the probes' memory is nobody's need";
  EXPECT_FALSE((*made)->reliability().reserved_peak_exact);
  EXPECT_FALSE((*made)->reliability().segments_known);
  EXPECT_THAT(all_notes(**made), ::testing::Not(::testing::HasSubstr("threshold")));
}

TEST(AllocatorNative, AnIgnoredThresholdIsNoted) {
  FakeDevice device(kRoom);
  device.ignore_release_threshold(true);
  const auto made = make_allocator("native", "", FakeDevice::table(), device.handle());
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_THAT(all_notes(**made), ::testing::HasSubstr("does not honour the release threshold"));
}

TEST(AllocatorNative, WithoutRoomTheThresholdIsNotTriedAndThatIsNoted) {
  FakeDevice device(100 * kMiB);
  const auto made = make_allocator("native", "", FakeDevice::table(), device.handle());
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_THAT(all_notes(**made), ::testing::HasSubstr("not tried"));
  EXPECT_EQ(device.held_bytes(), 0u);
}

TEST(AllocatorNative, TheThresholdIsAnOptionAndIsReadBack) {
  PolicyRig rig("native", "release_threshold_mb:32", kRoom);
  EXPECT_EQ(rig.allocator->options(), "release_threshold_mb:32");
  rig.give(rig.take(20 * kMiB));
  rig.give(rig.take(40 * kMiB));
  EXPECT_EQ(rig.reserved(), 60 * kMiB);
  ASSERT_EQ(FakeDevice::table().device_synchronize(rig.device.handle()), ASSAY_OK);
  EXPECT_LE(rig.reserved(), 40 * kMiB);
  for (const char* wrong : {"release_threshold_mb:", "release_threshold_mb:-1", "max_split_size_mb:64", "32",
                            "release_threshold_mb:99999999999999999"}) {
    const auto refused = make_allocator("native", wrong, FakeDevice::table(), rig.device.handle());
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
  }
}

TEST(AllocatorNative, ABlockIsReusedWhenEveryStreamThatUsedItHasPassed) {
  PolicyRig rig("native", "", kRoom);
  auto* second = rig.device.new_stream();
  auto* third = rig.device.new_stream();
  const auto own = rig.take(8 * kMiB);
  rig.give(own);
  EXPECT_EQ(rig.take(8 * kMiB), own) << "its own stream needs no event";
  rig.use(own, second);
  rig.use(own, third);
  rig.give(own);
  EXPECT_EQ(rig.stats().active_bytes[0].current, 0) << "the runtime orders the rest";
  const auto other = rig.take(8 * kMiB);
  EXPECT_NE(other, own);
  rig.device.finish(second);
  rig.device.finish(rig.stream);
  EXPECT_NE(rig.take(8 * kMiB), own) << "the third stream may still use it";
  rig.device.finish(third);
  EXPECT_EQ(rig.take(8 * kMiB), own);
}

TEST(AllocatorNative, BeforeOutOfMemoryThePoolIsTrimmed) {
  PolicyRig rig("native", "", kRoom);
  for (int i = 0; i < 4; ++i) rig.give(rig.take((60 + 20 * static_cast<std::size_t>(i)) * kMiB));
  EXPECT_NE(rig.take(500 * kMiB), 0u);
  EXPECT_EQ(rig.stats().num_alloc_retries, 1);
  EXPECT_EQ(rig.stats().num_ooms, 0);
  const auto refused = rig.allocator->allocate(20 * kMiB, rig.stream, assay::testing::Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().text, ::testing::HasSubstr("largest free block unknown"));
  EXPECT_EQ(rig.stats().num_ooms, 1);
}

// The n-th call of the device fails, for every n: creation fails cleanly or works, and nothing is left behind.
TEST(AllocatorNative, WhateverFailsNothingIsLeftBehind) {
  bool came = true;
  for (std::size_t nth = 1; came; ++nth) {
    SCOPED_TRACE(nth);
    ASSERT_LT(nth, 1000u);
    FakeDevice device(kRoom);
    auto* first = device.new_stream();
    auto* second = device.new_stream();
    device.fail_any(nth, ASSAY_INTERNAL);
    {
      auto made = make_allocator("native", "", FakeDevice::table(), device.handle());
      if (made) {
        auto block = (*made)->allocate(kMiB, first, assay::testing::Category::kv);
        if (block) {
          EXPECT_TRUE((*made)->record_stream(*block, second));
          if (const auto freed = (*made)->deallocate(*block); !freed) {
            EXPECT_TRUE((*made)->deallocate(*block)) << "a failed free leaves the block live";
          }
        }
        (void)(*made)->empty_cache();
      }
      came = device.failed_any();
      device.stop_failing();
    }
    EXPECT_EQ(device.held_bytes(), 0u);
    EXPECT_EQ(device.events(), 0u);
  }
}

}  // namespace
