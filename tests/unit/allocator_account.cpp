// SPDX-License-Identifier: Apache-2.0
// The account against written examples, and the cause of an out-of-memory in each of its four kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backends/allocator/account.hpp"
#include "tests/support/policy_rig.hpp"

namespace {

using namespace assay::allocator;
using assay::testing::PolicyRig;
using ::testing::HasSubstr;

constexpr std::int64_t kGigabyte = 1000 * 1000 * 1000;

assay_stream* stream(std::uintptr_t number) {
  return reinterpret_cast<assay_stream*>(number);
}

SegmentInfo segment(std::uintptr_t address, assay_stream* on, std::vector<BlockInfo> blocks, std::uint64_t pool = 0) {
  SegmentInfo info;
  info.address = address;
  info.stream = on;
  info.pool_id = pool;
  info.blocks = std::move(blocks);
  for (const auto& block : info.blocks) info.total_bytes += block.bytes;
  return info;
}

constexpr BlockState kLive = BlockState::active_allocated;
constexpr BlockState kPending = BlockState::active_pending_free;
constexpr BlockState kFree = BlockState::inactive;

TEST(AllocatorAccount, AWalkByHand) {
  // 1,000 requested round to 1,024, and the block handed out is 2,048: 24 of rounding, 1,024 of slack.
  const std::vector<SegmentInfo> segments{
      segment(0x1000, stream(1), {{0x1000, 2048, 1000, kLive, {}}, {0x1800, 4096, 4096, kFree, {}}}),
      segment(0x9000, stream(1), {{0x9000, 512, 512, kLive, {}}, {0x9200, 1536, 9, kFree, {}}}),
      segment(0xa000, stream(2), {{0xa000, 1024, 1024, kPending, {}}, {0xa400, 3072, 9, kFree, {}}}),
      segment(0xc000, stream(1), {{0xc000, 8192, 0, kFree, {}}}, 7),
  };
  const Account account = account_of(segments);
  EXPECT_EQ(account.reserved_bytes, 2048 + 4096 + 512 + 1536 + 1024 + 3072 + 8192);
  EXPECT_EQ(account.active_bytes, 2048 + 512 + 1024);
  EXPECT_EQ(account.pending_bytes, 1024);
  EXPECT_EQ(account.requested_bytes, 1000 + 512 + 1024);
  EXPECT_EQ(account.rounding_bytes, 24);
  EXPECT_EQ(account.slack_bytes, 1024);
  EXPECT_EQ(account.free_bytes, 4096 + 1536 + 3072 + 8192);
  EXPECT_EQ(account.largest_free_bytes, 8192);
  EXPECT_EQ(account.free_pieces, 4);
  EXPECT_EQ(account.private_bytes, 8192);
  EXPECT_EQ(account.reserved_bytes, account.active_bytes + account.free_bytes);
  EXPECT_EQ(account.active_bytes, account.requested_bytes + account.rounding_bytes + account.slack_bytes);
  EXPECT_DOUBLE_EQ(account.external_fragmentation(), 1.0 - 8192.0 / 16896.0);
  EXPECT_EQ(account.stranded_bytes(stream(1)), 3072);
  EXPECT_EQ(account.stranded_bytes(stream(2)), 4096 + 1536 + 8192);
  ASSERT_EQ(account.pools.size(), 3u);
  EXPECT_EQ(account.pools[0].largest_free_bytes, 4096);
  EXPECT_EQ(account.pools[2].pool_id, (assay::allocator::MempoolId{7, 0}));
}

TEST(AllocatorAccount, OfNothingIsZero) {
  EXPECT_EQ(account_of({}), Account{});
  EXPECT_EQ(account_of({}).external_fragmentation(), 0);
}

TEST(AllocatorAccount, FollowsTheStatisticsOfARealAllocator) {
  for (const char* policy : {"caching", "expandable", "remapping", "direct"}) {
    SCOPED_TRACE(policy);
    PolicyRig rig(policy);
    auto* other = rig.device.new_stream();
    const auto a = rig.take(1'000'000);
    const auto b = rig.take(30 * kMiB + 77);
    const auto c = rig.take_on(other, 3 * kMiB);
    rig.use(b, other);
    rig.give(a);
    rig.give(b);
    const Account account = account_of(rig.allocator->snapshot());
    const Statistics s = rig.stats();
    EXPECT_EQ(account.reserved_bytes, s.reserved_bytes[0].current);
    EXPECT_EQ(account.active_bytes, s.active_bytes[0].current);
    EXPECT_EQ(account.active_bytes - account.pending_bytes, s.allocated_bytes[0].current);
    EXPECT_EQ(account.requested_bytes, s.requested_bytes[0].current);
    rig.give(c);
    rig.device.finish(other);
  }
}

// The textbook case: 5 GB are free, in pieces of half a gigabyte, and 2 GB are asked for.
TEST(AllocatorAccount, TheTextbookCaseIsFragmentationWithBothNumbersAndTheLargestPiece) {
  const std::size_t capacity = 104 * kGigabyte / 10;
  PolicyRig rig("caching", {}, capacity);
  std::vector<std::uintptr_t> whole;
  for (int i = 0; i < 10; ++i) whole.push_back(rig.take(kGigabyte));
  for (const auto block : whole) rig.give(block);
  std::vector<std::uintptr_t> halves;
  for (int i = 0; i < 20; ++i) halves.push_back(rig.take(kGigabyte / 2));
  for (std::size_t i = 0; i < halves.size(); i += 2) rig.give(halves[i]);
  ASSERT_FALSE(rig.allocator->allocate(2 * kGigabyte, rig.stream, Category::kv));

  DeviceRoom room;
  room.total_bytes = capacity;
  room.free_bytes = static_cast<std::int64_t>(capacity - rig.device.held_bytes());
  const auto verdict = explain(account_of(rig.allocator->snapshot()),
                               refused_request("caching", Options{}, 2 * kGigabyte, rig.stream), room);
  EXPECT_EQ(verdict.cause, Cause::fragmentation);
  EXPECT_EQ(verdict.needed_bytes, 2'000'000'000);
  EXPECT_EQ(verdict.own_free_bytes, 5'000'002'560);
  EXPECT_EQ(verdict.own_largest_bytes, 500'000'256);
  EXPECT_EQ(verdict.own_free_pieces, 10);
  EXPECT_EQ(verdict.device_free_bytes, 396'584'960);
  EXPECT_EQ(verdict.outside_bytes, 0);
  EXPECT_EQ(verdict.missing_bytes, 0);
  EXPECT_THAT(verdict.sentence, HasSubstr("fragmentation: 2000000000 bytes were needed; 5000002560 bytes free in 10 "
                                          "pieces of its own stream, the largest of 500000256 bytes"));
}

// One stream's live gigabyte and its free half, another's free gigabyte, on a device of 4 GB.
Account shared_device(std::int64_t other_free) {
  std::vector<SegmentInfo> segments{segment(
      1 << 20, stream(1), {{1 << 20, kGigabyte, kGigabyte, kLive, {}}, {2 * kGigabyte, kGigabyte / 2, 0, kFree, {}}})};
  if (other_free > 0)
    segments.push_back(segment(std::uintptr_t{1} << 40, stream(2),
                               {{std::uintptr_t{1} << 40, static_cast<std::size_t>(other_free), 0, kFree, {}}}));
  return account_of(segments);
}

RefusedRequest ask(std::size_t bytes) {
  RefusedRequest request;
  request.bytes = bytes;
  request.stream = stream(1);
  return request;
}

TEST(AllocatorAccount, EachCauseAndTheBorderBetweenThem) {
  const Account account = shared_device(kGigabyte);  // reserved 2.5 GB
  DeviceRoom room;
  room.total_bytes = 4 * kGigabyte;
  room.baseline_bytes = kGigabyte / 10;
  room.free_bytes = kGigabyte / 4;  // so 4 - 0.25 - 2.5 - 0.1 = 1.15 GB are held outside
  const auto cause = [&](std::int64_t bytes) {
    return explain(account, ask(static_cast<std::size_t>(bytes)), room).cause;
  };
  const std::int64_t own = kGigabyte / 2 + kGigabyte / 4;
  const std::int64_t outside = kGigabyte * 115 / 100;
  EXPECT_EQ(cause(own), Cause::fragmentation);
  EXPECT_EQ(cause(own + 1), Cause::other_stream_cache);
  EXPECT_EQ(cause(own + kGigabyte), Cause::other_stream_cache);
  EXPECT_EQ(cause(own + kGigabyte + 1), Cause::other_process);
  EXPECT_EQ(cause(own + kGigabyte + outside), Cause::other_process);
  EXPECT_EQ(cause(own + kGigabyte + outside + 1), Cause::too_little_memory);

  const auto short_of = explain(account, ask(static_cast<std::size_t>(own + kGigabyte + outside + 77)), room);
  EXPECT_EQ(short_of.missing_bytes, 77);
  EXPECT_EQ(short_of.active_bytes, kGigabyte);
  EXPECT_THAT(short_of.sentence, HasSubstr("1000000000 bytes are in use"));
  EXPECT_THAT(short_of.sentence, HasSubstr("77 bytes would still be missing"));
  EXPECT_THAT(explain(account, ask(kGigabyte), room).sentence, HasSubstr("1000000000 bytes kept for other streams"));
  room.own_external_bytes = 5;
  EXPECT_THAT(explain(account, ask(2 * kGigabyte), room).sentence,
              HasSubstr("1150000000 bytes of the device are held outside this allocator (5 bytes of it by this"));
}

// Every memory word of the rule belongs to one term: adding a byte to any of them moves the border by that byte.
TEST(AllocatorAccount, TheTermsAddUpToTheDevice) {
  const Account account = shared_device(kGigabyte);
  DeviceRoom room;
  room.total_bytes = 4 * kGigabyte;
  room.free_bytes = kGigabyte / 4;
  const auto v = explain(account, ask(kGigabyte), room);
  EXPECT_EQ(v.own_free_bytes + v.other_cache_bytes + *v.device_free_bytes + *v.outside_bytes + v.active_bytes,
            *room.total_bytes);
}

TEST(AllocatorAccount, ALimitOfItsOwnIsNotAnotherProcess) {
  const Account account = shared_device(0);  // reserved 1.5 GB
  DeviceRoom room;
  room.total_bytes = 4 * kGigabyte;
  room.free_bytes = kGigabyte / 2;  // 2 GB are held outside
  room.limit_bytes = 2 * kGigabyte;
  const auto v = explain(account, ask(3 * kGigabyte / 2), room);
  EXPECT_EQ(v.device_free_bytes, kGigabyte / 2);
  EXPECT_EQ(v.cause, Cause::too_little_memory) << "without the others it would still not be allowed";
  EXPECT_THAT(v.sentence, HasSubstr("under the allocator's limit of 2000000000 bytes"));
  room.limit_bytes = 3 * kGigabyte;
  EXPECT_EQ(explain(account, ask(3 * kGigabyte / 2), room).cause, Cause::other_process);
}

TEST(AllocatorAccount, PrivatePoolsAndPendingFreesAreCachesOfOthers) {
  const std::vector<SegmentInfo> segments{
      segment(0x1000, stream(1), {{0x1000, 4096, 4096, kPending, {}}}),
      segment(0x8000, stream(1), {{0x8000, 8192, 0, kFree, {}}}, 3),
  };
  DeviceRoom room;
  room.total_bytes = 12288;
  room.free_bytes = 0;
  auto request = ask(12288);
  const auto v = explain(account_of(segments), request, room);
  EXPECT_EQ(v.cause, Cause::other_stream_cache);
  EXPECT_EQ(v.other_cache_bytes, 12288);
  EXPECT_EQ(v.active_bytes, 0);
  request.pool_id = {3, 0};
  EXPECT_EQ(explain(account_of(segments), request, room).own_free_bytes, 8192);
}

TEST(AllocatorAccount, TheStepOfThePolicyIsNamedWhereItIsTheObstacle) {
  DeviceRoom room;
  room.total_bytes = 4 * kGigabyte;
  room.free_bytes = 10 * static_cast<std::int64_t>(kMiB);
  const auto v = explain(Account{}, refused_request("caching", Options{}, 3 * kMiB, stream(1)), room);
  EXPECT_EQ(v.cause, Cause::fragmentation);
  EXPECT_EQ(v.growth_bytes, static_cast<std::int64_t>(kLargeSegmentBytes));
  EXPECT_THAT(v.sentence, HasSubstr("takes at least 20971520 bytes"));
  EXPECT_EQ(refused_request("remapping", Options{}, 3 * kMiB, stream(1)).growth_bytes, 3 * kMiB);
}

TEST(AllocatorAccount, AnUnreadableDeviceIsSaid) {
  const Account account = shared_device(kGigabyte);
  EXPECT_EQ(explain(account, ask(kGigabyte), {}).cause, Cause::other_stream_cache);
  const auto v = explain(account, ask(2 * kGigabyte), {});
  EXPECT_EQ(v.cause, Cause::unknown);
  EXPECT_FALSE(v.missing_bytes);
  EXPECT_THAT(v.sentence, HasSubstr("does not say what it has free"));
}

TEST(AllocatorAccount, AbsurdRequestsAreTooMuchAndNothingOverflows) {
  DeviceRoom room;
  room.total_bytes = 4 * kGigabyte;
  room.free_bytes = 4 * kGigabyte;
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto v = explain(shared_device(kGigabyte), refused_request("caching", Options{}, most, stream(1)), room);
  EXPECT_EQ(v.cause, Cause::too_little_memory);
  EXPECT_GT(*v.missing_bytes, 0);
}

}  // namespace
