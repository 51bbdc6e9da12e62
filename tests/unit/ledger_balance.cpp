// SPDX-License-Identifier: Apache-2.0
// The ledger balances on true readings, and any one wrong reading breaks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "suite/measure/ledger.hpp"

namespace assay::measure {
namespace {

using allocator::BlockState;
using allocator::Category;

std::vector<allocator::SegmentInfo> two_used_and_one_free() {
  allocator::SegmentInfo small;
  small.total_bytes = 2048;
  small.blocks = {{0x1000, 512, 500, BlockState::active_allocated, Category::weights},
                  {0x1200, 1024, 0, BlockState::inactive, Category::workspace},
                  {0x1600, 512, 12, BlockState::active_pending_free, Category::activation}};
  allocator::SegmentInfo large;
  large.total_bytes = 8192;
  large.blocks = {{0x9000, 8192, 8000, BlockState::active_allocated, Category::kv}};
  allocator::SegmentInfo free;
  free.total_bytes = 4096;
  free.blocks = {{0xf000, 4096, 77, BlockState::inactive, Category::workspace}};
  return {small, large, free};
}

LedgerReadings true_readings() {
  LedgerReadings in;
  in.checkpoint = "model_load:end";
  in.policy = "caching";
  in.walked = walk(two_used_and_one_free());
  in.baseline = {100, "reading of the environment phase", {}};
  in.device_external = {64, "device's books", {}};
  in.device_allocator = {14336, "device's books", {}};
  in.device_used = {100 + 14336 + 64, "budget", {}};
  in.device_walked = {100 + 14336 + 64, "walk over live ranges", {}};
  in.counters.reserved_bytes = 14336;
  in.counters.active_bytes = 9216;
  in.counters.allocated_bytes = 8704;
  in.counters.inactive_bytes = 1024;
  in.counters.requested_bytes = 8512;
  in.counters.category_requested_bytes = {500, 0, 8000, 12, 0, 0};
  return in;
}

const LedgerTerm& term(const Ledger& ledger, const std::string& name) {
  return *std::find_if(ledger.terms.begin(), ledger.terms.end(), [&](const auto& t) { return t.name == name; });
}

TEST(LedgerWalk, SumsByState) {
  const SnapshotWalk sums = walk(two_used_and_one_free());
  EXPECT_EQ(sums.reserved_bytes, 14336);
  EXPECT_EQ(sums.allocated_bytes, 8704);
  EXPECT_EQ(sums.pending_bytes, 512);
  EXPECT_EQ(sums.inactive_bytes, 1024);
  EXPECT_EQ(sums.free_segment_bytes, 4096);
  EXPECT_EQ(sums.slack_bytes, 12 + 500 + 192);
  EXPECT_EQ(sums.requested_bytes, (std::array<std::int64_t, 6>{500, 0, 8000, 12, 0, 0}));
}

TEST(LedgerBalance, HoldsOnTrueReadings) {
  const Ledger ledger = build_ledger(true_readings());
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.checkpoint, "model_load:end");
  ASSERT_EQ(ledger.equations.size(), 5u);
  EXPECT_EQ(ledger.equations[0].text, "device_used = baseline + reserved + external");
  EXPECT_EQ(ledger.equations[1].text, "reserved = active + inactive_pieces + free_segments");
  EXPECT_EQ(ledger.equations[2].text, "active = allocated + pending");
  EXPECT_EQ(ledger.equations[3].text, "active = requested + slack");
  EXPECT_EQ(ledger.equations[4].text, "requested = weights + inputs + kv + activation + workspace + output");
  for (const auto& equation : ledger.equations) {
    EXPECT_TRUE(equation.balanced) << equation.text;
    EXPECT_EQ(equation.difference.value, Number(std::int64_t{0})) << equation.text;
  }
  for (const auto& read : ledger.terms) {
    EXPECT_EQ(read.first.value, read.second.value) << read.name;
    EXPECT_FALSE(read.first_source.empty()) << read.name;
    EXPECT_NE(read.first_source, read.second_source) << read.name;
  }
}

using Corrupt = std::function<void(LedgerReadings&)>;

void expect_broken(const std::string& name, const Corrupt& corrupt, bool device_rounds) {
  LedgerReadings in = true_readings();
  in.device_rounds = device_rounds;
  ASSERT_TRUE(build_ledger(in).balanced);
  corrupt(in);
  const Ledger ledger = build_ledger(in);
  EXPECT_FALSE(ledger.balanced) << name << " was one byte off and nothing broke";
  EXPECT_TRUE(std::any_of(ledger.equations.begin(), ledger.equations.end(), [](const auto& equation) {
    return !equation.balanced;
  })) << name;
}

TEST(LedgerBalance, BreaksOnEachWrongReading) {
  std::vector<std::pair<std::string, Corrupt>> corruptions = {
      {"device_used", [](auto& in) { *in.device_used.bytes += 1; }},
      {"device_walked", [](auto& in) { *in.device_walked.bytes += 1; }},
      {"device_allocator", [](auto& in) { *in.device_allocator.bytes += 1; }},
      {"device_external", [](auto& in) { *in.device_external.bytes += 1; }},
      {"baseline", [](auto& in) { *in.baseline.bytes += 1; }},
      {"counter reserved", [](auto& in) { in.counters.reserved_bytes += 1; }},
      {"counter active", [](auto& in) { in.counters.active_bytes += 1; }},
      {"counter allocated", [](auto& in) { in.counters.allocated_bytes += 1; }},
      {"counter inactive", [](auto& in) { in.counters.inactive_bytes += 1; }},
      {"counter requested", [](auto& in) { in.counters.requested_bytes += 1; }},
      {"walk reserved", [](auto& in) { in.walked.reserved_bytes += 1; }},
      {"walk allocated", [](auto& in) { in.walked.allocated_bytes += 1; }},
      {"walk pending", [](auto& in) { in.walked.pending_bytes += 1; }},
      {"walk inactive", [](auto& in) { in.walked.inactive_bytes += 1; }},
      {"walk free segments", [](auto& in) { in.walked.free_segment_bytes += 1; }},
      {"walk slack", [](auto& in) { in.walked.slack_bytes += 1; }}};
  for (std::size_t i = 0; i < allocator::kCategoryCount; ++i) {
    const std::string name(allocator::kCategoryNames[i]);
    corruptions.emplace_back("counter " + name, [i](auto& in) { in.counters.category_requested_bytes[i] += 1; });
    corruptions.emplace_back("walk " + name, [i](auto& in) { in.walked.requested_bytes[i] += 1; });
  }
  for (const bool rounds : {false, true}) {
    for (const auto& [name, corrupt] : corruptions) expect_broken(name, corrupt, rounds);
  }
}

TEST(LedgerBalance, RoundingByTheDeviceIsATermOfItsOwn) {
  LedgerReadings in = true_readings();
  for (auto* reading : {&in.device_used, &in.device_walked, &in.device_allocator}) *reading->bytes += 4096;
  EXPECT_FALSE(build_ledger(in).balanced);
  in.device_rounds = true;
  const Ledger ledger = build_ledger(in);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.equations[0].text, "device_used = baseline + reserved + external + device_rounding");
  EXPECT_EQ(term(ledger, "device_rounding").first.value, Number(std::int64_t{4096}));
  EXPECT_EQ(term(ledger, "external").second.value, Number(std::int64_t{64}));
}

TEST(LedgerBalance, ExternalBytesAppearInExternalAndNowhereElse) {
  LedgerReadings in = true_readings();
  const Ledger before = build_ledger(in);
  constexpr std::int64_t kMore = std::int64_t{64} << 20;
  *in.device_used.bytes += kMore;
  *in.device_walked.bytes += kMore;
  *in.device_external.bytes += kMore;
  const Ledger after = build_ledger(in);
  EXPECT_TRUE(after.balanced);
  for (const auto& read : after.terms) {
    const auto& earlier = term(before, read.name);
    const std::int64_t grown = std::get<std::int64_t>(read.first.value) - std::get<std::int64_t>(earlier.first.value);
    EXPECT_EQ(grown, read.name == "external" || read.name == "device_used" ? kMore : 0) << read.name;
  }
}

TEST(LedgerBalance, AMissingReadingIsNullWithItsReason) {
  LedgerReadings in = true_readings();
  in.device_external = {std::nullopt, "device's books", "this runtime keeps no books of other allocations"};
  const Ledger ledger = build_ledger(in);
  EXPECT_TRUE(ledger.balanced) << "the equations that could be evaluated hold";
  EXPECT_FALSE(term(ledger, "external").first.has_value());
  EXPECT_EQ(term(ledger, "external").first.reason, "this runtime keeps no books of other allocations");
  EXPECT_EQ(term(ledger, "external").second.value, Number(std::int64_t{64})) << "the remainder is still shown";
  EXPECT_FALSE(ledger.equations[0].balanced);
  EXPECT_FALSE(ledger.equations[0].difference.has_value());
  EXPECT_FALSE(ledger.equations[0].difference.reason.empty());
  EXPECT_FALSE(term(ledger, "baseline").second.has_value()) << "the device's books are incomplete";
  in.counters.requested_bytes += 1;
  EXPECT_FALSE(build_ledger(in).balanced) << "the other equations are still judged";
}

}  // namespace
}  // namespace assay::measure
