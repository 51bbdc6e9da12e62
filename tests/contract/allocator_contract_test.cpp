// SPDX-License-Identifier: Apache-2.0
// What every allocator policy promises, over the simulated device and over the host module.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <random>
#include <thread>

#include "backends/allocator/options.hpp"
#include "tests/contract/allocator_contract.hpp"

namespace assay::testing {
namespace {

using allocator::Category;
using allocator::kMiB;
using allocator::Stat;
using allocator::Statistics;

std::vector<AllocatorCase> cases() {
  std::vector<AllocatorCase> all;
  for (const auto device : {ContractDevice::simulated, ContractDevice::host}) {
    const std::string on = device == ContractDevice::host ? "_on_host" : "_on_simulated";
    for (const auto policy : allocator::kPolicyNames)
      all.push_back({std::string(policy), "", device, std::string(policy) + on});
    all.push_back({"caching", "max_split_size_mb:32,roundup_power2_divisions:4", device, "caching_split_limit" + on});
    all.push_back({"caching", "per_process_memory_fraction:0.9,garbage_collection_threshold:0.5,tie_break:creation",
                   device, "caching_garbage" + on});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Policies, AllocatorContract, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(AllocatorContract, NamesItsPolicyAndItsEffectiveOptions) {
  EXPECT_EQ(allocator_->policy(), GetParam().policy);
  const auto again = allocator::make_allocator(GetParam().policy, allocator_->options(), *table_, handle_);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ((*again)->options(), allocator_->options());
}

TEST_P(AllocatorContract, NothingIsNothing) {
  EXPECT_EQ(take(0, streams_[0]), nullptr);
  give(nullptr);
  EXPECT_TRUE(allocator_->record_stream(nullptr, streams_[1]));
  EXPECT_EQ(allocator_->statistics().allocation[0], Stat{});
  EXPECT_TRUE(allocator_->snapshot().empty());
}

TEST_P(AllocatorContract, BlocksAreAlignedApartAndKeepTheirBytes) {
  const std::array<std::size_t, 8> sizes{1, 511, 512, 4097, kMiB, kMiB + 1, 3 * kMiB, 11 * kMiB};
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    assay_stream* stream = streams_[i % 2];
    void* block = take(sizes[i], stream);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0u);
    ASSERT_EQ(table_->fill(stream, block, static_cast<std::uint8_t>(i + 1), sizes[i]), ASSAY_OK);
    blocks.push_back(block);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::uint8_t> seen(sizes[i]);
    ASSERT_EQ(table_->copy(streams_[i % 2], seen.data(), blocks[i], sizes[i], ASSAY_COPY_DEVICE_TO_HOST), ASSAY_OK);
    ASSERT_EQ(table_->stream_synchronize(streams_[i % 2]), ASSAY_OK);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), i + 1), static_cast<std::ptrdiff_t>(sizes[i])) << sizes[i];
  }
  expect_consistent(*allocator_);
  for (void* block : blocks) give(block);
  expect_consistent(*allocator_);
}

TEST_P(AllocatorContract, StatisticsNestAndReservedIsWhatTheDeviceLent) {
  std::vector<void*> blocks;
  for (const std::size_t bytes : {std::size_t{700}, 2 * kMiB, 12 * kMiB}) blocks.push_back(take(bytes, streams_[0]));
  Statistics s = allocator_->statistics();
  EXPECT_EQ(s.requested_bytes[0].current, static_cast<std::int64_t>(700 + 14 * kMiB));
  EXPECT_LE(s.requested_bytes[0].current, s.allocated_bytes[0].current);
  EXPECT_EQ(s.allocated_bytes[0].current, s.active_bytes[0].current);
  EXPECT_LE(s.active_bytes[0].current, s.reserved_bytes[0].current);
  EXPECT_EQ(s.allocation[0].current, 3);
  std::int64_t lent = 0;  // the host lends whole pages
  for (const auto& segment : allocator_->snapshot()) {
    const std::size_t page = GetParam().device == ContractDevice::host ? 4096 : 1;
    lent += static_cast<std::int64_t>((segment.total_bytes + page - 1) / page * page);
  }
  if (!allocator_->reliability().segments_known) lent = s.reserved_bytes[0].current;
  EXPECT_EQ(held_bytes() - held_before_, lent);
  for (void* block : blocks) give(block);
  s = allocator_->statistics();
  EXPECT_EQ(s.allocated_bytes[0].current, 0);
  EXPECT_EQ(s.requested_bytes[0].current, 0);
  EXPECT_EQ(s.allocated_bytes[0].allocated, s.allocated_bytes[0].freed);
  ASSERT_TRUE(allocator_->empty_cache());
  EXPECT_EQ(allocator_->statistics().reserved_bytes[0].current, 0);
  EXPECT_EQ(held_bytes(), held_before_);
}

TEST_P(AllocatorContract, CategoriesAddUpToTheTotals) {
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i)
    take((i + 1) * 1000, streams_[0], static_cast<Category>(i));
  const Statistics s = allocator_->statistics();
  std::int64_t requested = 0;
  std::int64_t allocated = 0;
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    EXPECT_EQ(s.categories[i].requested_bytes.current, static_cast<std::int64_t>((i + 1) * 1000));
    requested += s.categories[i].requested_bytes.current;
    allocated += s.categories[i].allocated_bytes.current;
  }
  EXPECT_EQ(requested, s.requested_bytes[0].current);
  EXPECT_EQ(allocated, s.allocated_bytes[0].current);
}

TEST_P(AllocatorContract, AFreeIsAcceptedOnce) {
  void* block = take(4096, streams_[0]);
  give(block);
  const Statistics before = allocator_->statistics();
  std::byte elsewhere{};
  for (void* wrong : {block, static_cast<void*>(&elsewhere)}) {
    const auto freed = allocator_->deallocate(wrong);
    ASSERT_FALSE(freed);
    EXPECT_EQ(freed.error().code, ErrorCode::usage);
    const auto recorded = allocator_->record_stream(wrong, streams_[1]);
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().code, ErrorCode::usage);
  }
  EXPECT_EQ(allocator_->statistics(), before);
}

TEST_P(AllocatorContract, OutOfMemoryIsAnAnswerNotAnEnd) {
  void* block = take(12 * kMiB, streams_[0]);
  const auto refused = allocator_->allocate(kContractBytes, streams_[0], Category::kv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory) << refused.error().text;
  EXPECT_NE(refused.error().text.find(std::to_string(kContractBytes)), std::string::npos) << refused.error().text;
  EXPECT_EQ(allocator_->statistics().num_ooms, 1);
  expect_consistent(*allocator_);
  give(block);
  give(take(kContractBytes / 2, streams_[0]));
  expect_consistent(*allocator_);
}

TEST_P(AllocatorContract, ResetsOfPeaksAndOfSums) {
  void* kept = take(3 * kMiB, streams_[0]);
  give(take(5 * kMiB, streams_[0]));
  allocator_->reset_peaks();
  Statistics s = allocator_->statistics();
  EXPECT_GT(s.allocated_bytes[0].current, 0);
  for (const auto* array : {&s.allocated_bytes, &s.reserved_bytes, &s.active_bytes, &s.requested_bytes, &s.allocation})
    for (const Stat& stat : *array) EXPECT_EQ(stat.peak, stat.current);
  allocator_->reset_accumulated();
  s = allocator_->statistics();
  EXPECT_EQ(s.requested_bytes[0],
            (Stat{static_cast<std::int64_t>(3 * kMiB), static_cast<std::int64_t>(3 * kMiB), 0, 0}));
  EXPECT_EQ(s.num_device_alloc, 0);
  give(kept);
}

TEST_P(AllocatorContract, AForeignStreamsWorkIsOverBeforeTheBlockIsReused) {
  for (std::uint8_t round = 1; round <= 20; ++round) {
    void* block = take(2 * kMiB, streams_[0]);
    ASSERT_EQ(table_->stream_synchronize(streams_[0]), ASSAY_OK);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(table_->fill(streams_[1], block, 0xEE, 2 * kMiB), ASSAY_OK);
    ASSERT_TRUE(allocator_->record_stream(block, streams_[1]));
    give(block);
    void* next = take(2 * kMiB, streams_[0]);
    ASSERT_EQ(table_->fill(streams_[0], next, round, 2 * kMiB), ASSAY_OK);
    std::vector<std::uint8_t> seen(2 * kMiB);
    ASSERT_EQ(table_->stream_synchronize(streams_[1]), ASSAY_OK);
    ASSERT_EQ(table_->copy(streams_[0], seen.data(), next, seen.size(), ASSAY_COPY_DEVICE_TO_HOST), ASSAY_OK);
    ASSERT_EQ(table_->stream_synchronize(streams_[0]), ASSAY_OK);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), round), static_cast<std::ptrdiff_t>(seen.size()));
    give(next);
  }
  ASSERT_TRUE(allocator_->empty_cache());
  EXPECT_EQ(allocator_->statistics().active[0].current, 0);
  expect_consistent(*allocator_);
}

TEST_P(AllocatorContract, ThreadsMayShareIt) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      std::mt19937 random(t);
      std::vector<void*> live;
      for (int i = 0; i < 300; ++i) {
        if (live.size() < 8 && random() % 3 != 0) {
          auto pointer = allocator_->allocate(random() % (256 * 1024) + 1, streams_[t % 2], Category::activation);
          ASSERT_TRUE(pointer) << pointer.error().text;
          live.push_back(*pointer);
          if (random() % 4 == 0) {
            ASSERT_TRUE(allocator_->record_stream(*pointer, streams_[(t + 1) % 2]));
          }
        } else if (!live.empty()) {
          const std::size_t victim = random() % live.size();
          ASSERT_TRUE(allocator_->deallocate(live[victim]));
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
        }
        if (i % 100 == 0) (void)allocator_->statistics();
      }
      for (void* pointer : live) ASSERT_TRUE(allocator_->deallocate(pointer));
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(allocator_->empty_cache());
  expect_consistent(*allocator_);
  EXPECT_EQ(allocator_->statistics().allocation[0].current, 0);
  EXPECT_EQ(held_bytes(), held_before_);
}

TEST_P(AllocatorContract, ItsEndGivesEverythingBack) {
  void* shared = take(3 * kMiB, streams_[0]);
  take(512, streams_[1]);
  ASSERT_TRUE(allocator_->record_stream(shared, streams_[1]));
  give(shared);
  allocator_.reset();
  EXPECT_EQ(held_bytes(), held_before_);
}

}  // namespace
}  // namespace assay::testing
