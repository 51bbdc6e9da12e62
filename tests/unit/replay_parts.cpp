// SPDX-License-Identifier: Apache-2.0
// The parts of a replay: the address map, the bounded series, policy words, the simulated device, pending frees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <unordered_map>

#include "suite/replay/address_map.hpp"
#include "suite/replay/capacity.hpp"
#include "suite/replay/compare_policies.hpp"
#include "suite/replay/policy_list.hpp"
#include "suite/replay/policy_replay.hpp"
#include "suite/replay/search.hpp"
#include "suite/replay/series.hpp"
#include "suite/replay/simulated_device.hpp"
#include "tests/support/shared_data.hpp"

namespace assay::replay {
namespace {

using ::testing::HasSubstr;
constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(ReplayAddressMap, DoesWhatAnUnorderedMapDoes) {
  std::mt19937_64 random(7);
  AddressMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> reference;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t address = (random() % 3000 + 1) * 512;
    if (random() % 2 == 0) {
      map[address] = reference[address] = random();
    } else {
      map.erase(address);
      reference.erase(address);
    }
    const std::uint64_t asked = (random() % 3000 + 1) * 512;
    const auto known = reference.find(asked);
    const auto* found = map.find(asked);
    ASSERT_EQ(found != nullptr, known != reference.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, known->second);
    }
    ASSERT_EQ(map.size(), reference.size());
  }
}

// The heap in use, at its most, while a trace of `events` events with 64 live blocks is read, checked and replayed.
// Address sanitizers have a heap of their own, of which this sees nothing.
std::size_t most_heap(std::uint64_t events) {
  const auto path = std::filesystem::temp_directory_path() / ("assay-long-" + std::to_string(::getpid()) + ".trace");
  {
    std::ofstream out(path);
    out << "#assay-trace 1\naction,device,stream,address,bytes,time_us\n";
    for (std::uint64_t i = 0; i < events; ++i) {
      // 64 allocations, then the oldest block is freed and its address allocated again, in turn.
      const bool first = i < 64;
      const std::uint64_t slot = first ? i : (i - 64) / 2 % 64;
      const std::uint64_t address = (slot + 1) * 4096;
      out << (first || i % 2 == 1 ? "alloc" : "free");
      out << ",0,0," << address << "," << 512 * (i % 37 + 1) << "," << i << "\n";
    }
  }
  auto opened = trace::open(path.string());
  EXPECT_TRUE(opened) << opened.error().text;
  auto source = trace::checked(std::move(*opened), path.string());
  auto replay = PolicyReplay::create({"caching", "", "caching"}, 0, SimulatedDevice::kUnlimitedBytes, true);
  EXPECT_TRUE(replay);
  std::size_t most = 0;
  trace::Event event;
  for (std::uint64_t i = 0;; ++i) {
    const auto more = source->next(event);
    EXPECT_TRUE(more) << more.error().text;
    if (!more || !*more) break;
    (*replay)->take(EventChunk{&event, 1, i});
    if (i % 64 != 0) continue;
    const auto heap = ::mallinfo2();
    most = std::max(most, heap.uordblks + heap.hblkhd);  // small blocks, and those mapped one by one
  }
  EXPECT_GT((*replay)->operations(), events / 2);
  std::filesystem::remove(path);
  return most;
}

TEST(ReplayMemory, DoesNotGrowWithTheEvents) {
  const std::size_t few = most_heap(100'000);  // past the points of a series and the buffers of the reader
  const std::size_t many = most_heap(400'000);
  EXPECT_LE(many, few + (std::size_t{64} << 10));  // a byte for each event would be 300 KB
}

TEST(ReplaySeries, KeepsEveryPeakInABoundedNumberOfPoints) {
  for (const std::uint64_t events : {1ULL, 2048ULL, 2049ULL, 1'000'003ULL}) {
    Series series;
    for (std::uint64_t i = 0; i < events; ++i) {
      const std::size_t bytes = i == events / 3 ? 1'000'000 : i % 1000;
      series.add(i, static_cast<std::int64_t>(i), {bytes, bytes, bytes + 1, bytes + 2});
    }
    const auto& points = series.points();
    ASSERT_FALSE(points.empty());
    EXPECT_LE(points.size(), Series::kMostPoints);
    EXPECT_EQ(points.back().event, events - 1);
    std::size_t highest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].requested_bytes == 1'000'000) {
        highest = points[i].reserved_bytes;
        EXPECT_GE(points[i].event, events / 3);
        EXPECT_LT(points[i].event - events / 3, series.events_per_point());
      }
      if (i > 0) {
        EXPECT_GT(points[i].event, points[i - 1].event);
      }
    }
    EXPECT_EQ(highest, 1'000'002U);
  }
}

TEST(ReplayPolicies, AreCutAtTheCommasBetweenThem) {
  const auto one = parse_policies({"caching,max_split_size_mb:64,roundup_power2_divisions:[256:1,>:4],direct"});
  ASSERT_TRUE(one) << one.error().text;
  ASSERT_EQ(one->size(), 3U);
  EXPECT_EQ((*one)[0].policy, "caching");
  EXPECT_EQ((*one)[1].policy, "caching");
  EXPECT_EQ((*one)[1].options, "max_split_size_mb:64,roundup_power2_divisions:[256:1,>:4]");
  EXPECT_EQ((*one)[2].policy, "direct");
  const auto two = parse_policies({"expandable_segments:True", "max_split_size_mb:32"});
  ASSERT_TRUE(two);
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ((*two)[0].policy, "expandable");
  for (const char* word : {"magic", "native", "max_split_size_mb:1", "max_split_size:64", ",", ""})
    EXPECT_FALSE(parse_policies({word})) << word;
}

TEST(ReplayDevice, HoldsWhatItsCapacityAllowsAndCountsWhatItGrants) {
  SimulatedDevice device(10 * kMiB);
  const assay_backend& table = SimulatedDevice::table();
  void* first = nullptr;
  void* second = nullptr;
  EXPECT_EQ(table.malloc(device.handle(), 8 * kMiB, ASSAY_OWNER_ALLOCATOR, &first), ASSAY_OK);
  EXPECT_EQ(table.malloc(device.handle(), 3 * kMiB, ASSAY_OWNER_ALLOCATOR, &second), ASSAY_OUT_OF_MEMORY);
  EXPECT_EQ(table.malloc(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &second), ASSAY_OK);
  EXPECT_EQ(table.free(device.handle(), first), ASSAY_OK);
  EXPECT_EQ(table.free(device.handle(), first), ASSAY_INVALID_VALUE);
  void* range = nullptr;
  assay_physical* physical = nullptr;
  EXPECT_EQ(table.vmm_reserve(device.handle(), 64 * kMiB, &range), ASSAY_OK);
  EXPECT_EQ(table.vmm_create(device.handle(), 10 * kMiB, ASSAY_OWNER_ALLOCATOR, &physical), ASSAY_OUT_OF_MEMORY);
  EXPECT_EQ(table.vmm_create(device.handle(), 8 * kMiB, ASSAY_OWNER_ALLOCATOR, &physical), ASSAY_OK);
  EXPECT_EQ(table.vmm_map(device.handle(), range, 8 * kMiB, physical), ASSAY_OK);
  EXPECT_EQ(table.vmm_release(device.handle(), physical), ASSAY_OK);
  EXPECT_EQ(device.held_bytes(), 10 * kMiB);
  EXPECT_EQ(table.vmm_unmap(device.handle(), range, 2 * kMiB), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.vmm_unmap(device.handle(), range, 8 * kMiB), ASSAY_OK);
  EXPECT_EQ(device.held_bytes(), 2 * kMiB);
  EXPECT_EQ(device.calls(), (DeviceCallCounts{2, 1, 1, 1}));
}

const std::string kHead = "#assay-trace 1\naction,device,stream,address,bytes,time_us\n";

std::vector<PolicyOutcome> outcomes_of(const std::string& text, const std::vector<std::string>& policies) {
  const test::ScratchFolder folder;
  const auto trace = TraceInput::open(folder.write("trace", text));
  EXPECT_TRUE(trace) << trace.error().text;
  const auto choices = parse_policies(policies);
  auto outcomes = compare_policies(**trace, *choices, {});
  EXPECT_TRUE(outcomes) << outcomes.error().text;
  return *outcomes;
}

// A block between the request of its free and the completion is active, and nobody else's.
TEST(ReplayEngine, ABlockIsHeldUntilItsFreeCompletes) {
  const std::string begin = kHead + "alloc,0,1,0x100,20971520,1\nfree_requested,0,1,0x100,20971520,2\n";
  const std::string completed = "free_completed,0,1,0x100,20971520,3\n";
  const std::string other = "alloc,0,1,0x200,20971520,4\n";
  for (const PolicyOutcome& at_once : outcomes_of(begin + completed + other, {"caching,expandable,remapping"}))
    EXPECT_EQ(at_once.peaks.active_bytes, 20 * kMiB) << at_once.choice.label;
  for (const PolicyOutcome& later : outcomes_of(begin + other + completed, {"caching,expandable,remapping"})) {
    EXPECT_EQ(later.peaks.active_bytes, 40 * kMiB) << later.choice.label;
    EXPECT_EQ(later.peaks.reserved_bytes, 40 * kMiB) << later.choice.label;
    EXPECT_EQ(later.peaks.requested_bytes, 40 * kMiB) << later.choice.label;
  }
}

TEST(ReplayEngine, EachDeviceOfATraceHasItsOwnAllocator) {
  const auto outcomes = outcomes_of(kHead + "alloc,0,1,0x100,20971520,1\nalloc,1,1,0x100,41943040,2\n", {"caching"});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].peaks.reserved_bytes, 20 * kMiB);
  EXPECT_EQ(outcomes[1].peaks.reserved_bytes, 40 * kMiB);
  EXPECT_EQ(outcomes[1].device, 1);
}

TEST(ReplayEngine, TheLayoutIsThatOfThePeak) {
  // Reserved is highest after the third event: 20 MiB with 8 live and the second segment of 30 MiB.
  const auto outcomes =
      outcomes_of(kHead + "alloc,0,1,0x100,8388608,1\nalloc,0,1,0x200,4194304,2\nalloc,0,1,0x300,31457280,3\n" +
                      "free,0,1,0x100,8388608,4\nfree,0,1,0x300,31457280,5\nalloc,0,1,0x400,4194304,6\n",
                  {"caching"});
  const Layout& layout = outcomes[0].at_peak;
  EXPECT_EQ(layout.reserved_bytes, 50 * kMiB);
  EXPECT_EQ(layout.active_bytes, 42 * kMiB);
  EXPECT_EQ(layout.largest_free_bytes, 8 * kMiB);
  EXPECT_EQ(layout.free_pieces, 1U);
  EXPECT_EQ(layout.segments.size(), 2U);
  EXPECT_EQ(outcomes[0].calls.total(), 2);
}

TEST(ReplayEngine, ARefusalNamesWhoHasTheMemory) {
  const test::ScratchFolder folder;
  const auto cause = [&](const std::string& text) {
    const auto trace = TraceInput::open(folder.write("t" + std::to_string(text.size()), kHead + text));
    EXPECT_TRUE(trace) << trace.error().text;
    auto outcomes = compare_policies(**trace, *parse_policies({"caching"}), {100 * kMiB, true});
    EXPECT_TRUE(outcomes) << outcomes.error().text;
    return (*outcomes)[0].refusal ? (*outcomes)[0].refusal->cause : "none";
  };
  EXPECT_EQ(cause("alloc,0,1,0x100,104857600,1\n"), "none");
  EXPECT_EQ(cause("alloc,0,1,0x100,62914560,1\nalloc,0,1,0x200,62914560,2\n"), "too_little_memory");
  // Half of each of two segments is free, for this stream and for the other one.
  const std::string halves =
      "alloc,0,1,0x100,41943040,1\nalloc,0,1,0x200,41943040,1\nfree,0,1,0x100,1,1\n"
      "free,0,1,0x200,1,1\nalloc,0,1,0x300,20971520,2\nalloc,0,1,0x400,20971520,2\n"
      "alloc,0,1,0x500,20971520,2\nfree,0,1,0x300,1,2\n";
  EXPECT_EQ(cause(halves + "alloc,0,1,0x600,52428800,4\n"), "fragmentation");
  EXPECT_EQ(cause(halves + "alloc,0,2,0x600,52428800,4\n"), "other_stream_cache");
}

TEST(ReplayCapacity, TheLeastCapacityIsTheBorder) {
  const test::ScratchFolder folder;
  const auto trace = TraceInput::open(
      folder.write("trace", kHead + "alloc,0,1,0x100,8388608,1\nalloc,0,1,0x200,52428800,2\nfree,0,1,0x100,8388608,3\n"
                                    "alloc,0,1,0x300,31457280,4\nfree,0,1,0x200,52428800,5\n"));
  ASSERT_TRUE(trace);
  const auto choices = default_policies();
  const auto free = compare_policies(**trace, choices, {});
  const auto least = least_capacities(**trace, *free);
  ASSERT_TRUE(least) << least.error().text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto bytes = static_cast<std::size_t>((*least)[i]);
    EXPECT_FALSE((*compare_policies(**trace, {choices[i]}, {bytes, false}))[0].refusal) << choices[i].label;
    EXPECT_TRUE((*compare_policies(**trace, {choices[i]}, {bytes - 2 * kMiB, false}))[0].refusal) << choices[i].label;
  }
  // On the way out of memory `caching` gives its 20 MiB back: it needs no more than what is live together.
  EXPECT_EQ((*least)[0], static_cast<std::int64_t>(80 * kMiB));
}

TEST(ReplaySearch, FindsWhatEveryOptionSaves) {
  const auto recording = test::shared_data("traces/pytorch/cs336-a.json");
  if (!recording) GTEST_SKIP() << "no PyTorch snapshot; set ASSAY_SHARED_DATA to search on one";
  const auto trace = TraceInput::open(recording->string());
  ASSERT_TRUE(trace) << trace.error().text;
  const auto best = best_configuration(**trace, SimulatedDevice::kUnlimitedBytes);
  ASSERT_TRUE(best) << best.error().text;
  EXPECT_EQ(best->tried, 60U);
  EXPECT_LE(best->need.reserved_bytes, best->of_defaults.reserved_bytes);
  // The string means what was tried.
  const auto again =
      compare_policies(**trace, *parse_policies({best->options.empty() ? "caching" : best->options}), {});
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)[0].peaks.reserved_bytes, best->need.reserved_bytes);
  EXPECT_EQ((*again)[0].calls.total(), best->need.device_calls);
}

}  // namespace
}  // namespace assay::replay
