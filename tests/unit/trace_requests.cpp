// SPDX-License-Identifier: Apache-2.0
// Request traces, and the paged KV pool: written examples by hand, and conservation of blocks on the published traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "suite/trace/paged_kv.hpp"
#include "tests/support/shared_data.hpp"

namespace {

using namespace assay;
using trace::Action;
using trace::PagedKv;
using trace::PagedKvOptions;

// Every event, each block checked against those that are live.
struct Driven {
  std::vector<std::int64_t> live_after;  // blocks live after each event
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::uint64_t hash = 0;
  trace::PagedKvStatistics statistics;
};

Driven drive(const std::string& path, const PagedKvOptions& options, bool keep = true) {
  Driven out;
  auto pool = trace::open_paged_kv(path, options);
  EXPECT_TRUE(pool) << pool.error().text;
  if (!pool) return out;
  std::unordered_set<std::uint64_t> live;
  trace::Event event;
  std::int64_t last = 0;
  bool sound = true;  // one expectation for millions of events
  for (;;) {
    const auto more = (*pool)->next(event);
    EXPECT_TRUE(more) << more.error().text;
    if (!more || !*more) break;
    sound = sound && event.bytes == options.block_tokens * options.bytes_per_token && event.time_us >= last;
    last = event.time_us;
    out.hash = (out.hash * 1099511628211ULL) ^ (event.address + static_cast<std::uint64_t>(event.action));
    if (event.action == Action::alloc) {
      sound = sound && live.insert(event.address).second;  // a live block is not given twice
      ++out.allocated;
    } else {
      sound = sound && event.action == Action::free && live.erase(event.address) == 1;
    }
    out.peak = std::max(out.peak, static_cast<std::int64_t>(live.size()));
    if (keep) out.live_after.push_back(static_cast<std::int64_t>(live.size()));
  }
  EXPECT_TRUE(sound);
  EXPECT_TRUE(live.empty()) << live.size() << " blocks were never given back";
  out.statistics = (*pool)->statistics();
  const auto& s = out.statistics;
  EXPECT_EQ(s.blocks_allocated, out.allocated);
  EXPECT_EQ(s.blocks_freed, out.allocated);
  EXPECT_EQ(s.blocks_now, 0);
  EXPECT_EQ(s.blocks_peak, out.peak);
  EXPECT_LE(s.blocks_peak, options.pool_bytes / (options.block_tokens * options.bytes_per_token));
  EXPECT_EQ(s.finished + s.refused, s.requests);
  return out;
}

class PagedKvTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  assay::test::ScratchFolder folder_;
};

PagedKvOptions small_pool(std::int64_t blocks) {
  PagedKvOptions options;
  options.bytes_per_token = 1024;
  options.block_tokens = 4;
  options.pool_bytes = blocks * 4096;
  options.decode_tokens_per_s = 10;
  options.prefill_tokens_per_s = 1'000'000;
  return options;
}

TEST_F(PagedKvTest, OneRequestTakesABlockForEveryFourTokens) {
  const auto file = write("one.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,5,8\n");
  const auto driven = drive(file, small_pool(100));
  // 5 tokens are 2 blocks; the 9th token (the 4th made) begins a third, the 13th (the 8th made) a fourth.
  EXPECT_EQ(driven.live_after, (std::vector<std::int64_t>{1, 2, 3, 4, 3, 2, 1, 0}));
  EXPECT_EQ(driven.statistics.finished, 1);
  EXPECT_EQ(driven.statistics.preemptions, 0);
  EXPECT_EQ(driven.statistics.waste_bytes_peak, 3 * 1024) << "5 or 9 or 13 tokens in blocks of 4";
}

TEST_F(PagedKvTest, TheYoungerGivesWayAndIsComputedAgain) {
  const auto file =
      write("two.csv", "ContextTokens,TIMESTAMP,GeneratedTokens\n8,2023-11-16 18:17:03,8\n8,2023-11-16 18:17:03,8\n");
  const auto driven = drive(file, small_pool(6));  // each needs 4 in the end
  EXPECT_EQ(driven.statistics.preemptions, 1);
  EXPECT_EQ(driven.statistics.finished, 2);
  EXPECT_EQ(driven.peak, 6);
  EXPECT_GT(driven.allocated, 8);
}

TEST_F(PagedKvTest, WhatNeverFitsIsRefusedAndTheRestGoesOn) {
  const auto file =
      write("big.csv",
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,400,1\n2023-11-16 18:17:03,4,1\n"
            "2023-11-16 18:17:04,0,0\n");
  const auto driven = drive(file, small_pool(10));
  EXPECT_EQ(driven.statistics.refused, 1);
  EXPECT_EQ(driven.statistics.finished, 2);
}

TEST_F(PagedKvTest, EqualBeginningsAreSharedAndEvictedWhenOthersNeedTheRoom) {
  const std::string first = R"({"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [7, 8]})";
  const std::string same = R"({"timestamp": 9000, "input_length": 1030, "output_length": 1, "hash_ids": [7, 8, 9]})";
  const std::string other = R"({"timestamp": 20000, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]})";
  const auto file = write("shared.jsonl", first + "\n" + same + "\n" + other + "\n");
  PagedKvOptions options = small_pool(400);  // a piece of 512 tokens is 128 blocks
  const auto driven = drive(file, options);
  EXPECT_EQ(driven.statistics.blocks_shared, 256);
  EXPECT_EQ(driven.statistics.finished, 3);
  // 1024 + 1 tokens take 257 blocks; 1030 + 1 the same 256 and two more; 1536 + 1 take 385, for which the 256 idle ones
  // cannot all stay among 400: at least one piece of 128 is evicted, and at the end all the others.
  EXPECT_EQ(driven.statistics.blocks_allocated, 257 + 2 + 385);
  EXPECT_EQ(driven.statistics.blocks_evicted, 256 + 384);
  options.prefix_sharing = false;
  const auto alone = drive(file, options);
  EXPECT_EQ(alone.statistics.blocks_shared, 0);
  EXPECT_EQ(alone.statistics.blocks_allocated, 257 + 258 + 385);
}

TEST_F(PagedKvTest, ThePublishedTracesKeepEveryBlock) {
  for (const char* name : {"azure-2023-code.csv", "mooncake-synthetic.jsonl"}) {
    const auto data = assay::test::shared_data(std::string("traces/requests/") + name);
    if (!data) GTEST_SKIP() << "no shared data: traces/requests is absent";
    const std::string file = data->string();
    SCOPED_TRACE(name);
    const auto roomy = drive(file, {}, false);
    EXPECT_GT(roomy.statistics.requests, 3000);
    EXPECT_EQ(roomy.statistics.refused, 0);
    PagedKvOptions tight;
    tight.pool_bytes = std::int64_t{20} << 30;  // 10,240 blocks
    const auto full = drive(file, tight, false);
    if (std::string(name) == "azure-2023-code.csv") {
      EXPECT_EQ(full.hash, drive(file, tight, false).hash) << "the same trace twice gives the same events";
    }
    EXPECT_GT(full.statistics.waste_share_mean, 0);
    EXPECT_LT(full.statistics.waste_share_mean, 0.1) << "at most 15 of every 16 tokens of a sequence's last block";
  }
}

TEST_F(PagedKvTest, OpensThroughTheCommonDoorWithItsParameters) {
  const auto file = write("one.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,5,8\n");
  const auto source = trace::open(file);
  ASSERT_TRUE(source) << source.error().text;
  EXPECT_EQ((*source)->header().origin.format, trace::Format::requests_csv);
  ASSERT_EQ((*source)->header().warnings.size(), 1u);
  EXPECT_NE((*source)->header().warnings[0].find("bytes_per_token=131072"), std::string::npos);
}

TEST_F(PagedKvTest, BadRequestsAreRefusedWithFileAndLine) {
  const std::string head = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,4,1\n";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"a.csv", head + "2023-11-16 18:17:03,-1,1\n"},
      {"b.csv", head + "2023-11-16 18:17:03,99999999999,1\n"},
      {"c.csv", head + "2023-13-16 18:17:03,4,1\n"},
      {"d.csv", head + "2023-11-16 18:17:03,4\n"},
      {"e.csv", "TIMESTAMP,ContextTokens\n2023-11-16 18:17:03,4\n"},
      {"f.jsonl", R"({"timestamp": 0, "input_length": 4, "output_length": -1})"},
      {"g.jsonl", R"({"timestamp": 0, "input_length": 4, "output_length": 1, "hash_ids": [1, 2]})"},
      {"h.jsonl", R"({"timestamp": 0, "input_length": 4, "output_length": 1, "hash_ids": ["a"]})"},
      {"i.jsonl", R"({"timestamp": 0, "input_length": 4, "output_l)"},
      {"j.jsonl", R"({"timestamp": 1e300, "input_length": 4, "output_length": 1})"},
  };
  for (const auto& [name, text] : bad) {
    const auto file = write(name, text);
    auto source = trace::open(file);
    Result<bool> more = true;
    trace::Event event;
    while (source && more && *more) more = (*source)->next(event);
    ASSERT_FALSE(source && more) << name;
    const Error& error = source ? more.error() : source.error();
    EXPECT_EQ(error.code, ErrorCode::bad_input) << name;
    EXPECT_NE(error.text.find(file), std::string::npos) << error.text;
  }
}

TEST_F(PagedKvTest, OptionsThatCannotBeAreRefused) {
  const auto file = write("one.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,5,8\n");
  for (auto change :
       {+[](PagedKvOptions& o) { o.block_tokens = 0; }, +[](PagedKvOptions& o) { o.bytes_per_token = -1; },
        +[](PagedKvOptions& o) { o.pool_bytes = 100; }, +[](PagedKvOptions& o) { o.decode_tokens_per_s = 0; },
        +[](PagedKvOptions& o) { o.prefill_tokens_per_s = 0; }, +[](PagedKvOptions& o) { o.max_sequences = 0; }}) {
    PagedKvOptions options;
    change(options);
    const auto refused = trace::open_paged_kv(file, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::usage) << refused.error().text;
  }
}

}  // namespace
