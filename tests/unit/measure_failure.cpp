// SPDX-License-Identifier: Apache-2.0
// Launches that fail: the phase, the request, the message and the last counters are kept, and peaks are marked partial.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "suite/model/bytes.hpp"
#include "tests/unit/measure_support.hpp"

namespace assay::measure {
namespace {

using test::counter;
using test::launch;
using test::tiny;

// A tiny decoder whose weights do not fit one small-pool segment, so that budgets can end inside any phase.
Workload wider() {
  Workload work = tiny();
  work.model.hidden_size = 256;
  work.model.intermediate_size = 1024;
  work.model.query_heads = 8;
  work.model.head_dim = 32;
  work.model.vocabulary = 1024;
  work.model.max_positions = 4096;
  return work;
}

void expect_out_of_memory(const test::Ran& ran, const std::string& phase, const std::string& category) {
  ASSERT_FALSE(ran.result);
  EXPECT_EQ(ran.result.error().code, ErrorCode::out_of_memory) << ran.result.error().text;
  ASSERT_FALSE(ran.phases.empty());
  const Phase& last = ran.phases.back();
  EXPECT_EQ(last.name, phase);
  EXPECT_EQ(last.status, PhaseStatus::failed);
  EXPECT_TRUE(last.peaks_partial);
  ASSERT_TRUE(last.failure);
  EXPECT_EQ(last.failure->code, "out_of_memory");
  EXPECT_EQ(last.failure->message, ran.result.error().text);
  EXPECT_EQ(last.failure->category, category);
  EXPECT_TRUE(last.failure->requested_bytes.has_value()) << last.failure->requested_bytes.reason;
  // A request of the allocator has an account: what was missing is the request's own, whatever the cause.
  ASSERT_EQ(last.failure->account.has_value(), !category.empty());
  if (last.failure->account) {
    const auto term = [&](const char* name, const char* perimeter = "allocator") {
      return counter(last.failure->account->terms, name, perimeter);
    };
    EXPECT_GE(term("needed_bytes"), std::get<std::int64_t>(last.failure->requested_bytes.value));
    EXPECT_EQ(term("own_stream_free_bytes"), counter(last.end, "free_bytes"));
    EXPECT_EQ(term("own_stream_largest_free_bytes"), counter(last.end, "largest_free_bytes"));
    EXPECT_EQ(term("in_use_bytes"), counter(last.end, "allocated_bytes.all.current"));
    EXPECT_EQ(term("other_caches_bytes"), 0);
    // On the host nobody else shares the budget, so the terms are all of it.
    const std::int64_t own = term("own_stream_free_bytes") + term("device_free_bytes", "device");
    EXPECT_EQ(last.failure->account->cause, own >= term("needed_bytes") ? "fragmentation" : "too_little_memory");
    EXPECT_EQ(term("missing_bytes", "device"), std::max<std::int64_t>(term("needed_bytes") - own, 0));
    EXPECT_FALSE(last.failure->account->sentence.empty());
  }
  for (std::size_t i = 0; i + 1 < ran.phases.size(); ++i) EXPECT_EQ(ran.phases[i].status, PhaseStatus::ok);
  EXPECT_TRUE(ran.checksum.empty());
}

TEST(MeasureFailure, ABudgetTooSmallForTheWeightsFailsInModelLoad) {
  const Workload work = wider();
  const std::int64_t weights = model::weights_of(work.model, "f32")->bytes;
  const auto ran = launch(work, test::host({{"memory_bytes", std::to_string(weights / 2)}}));
  expect_out_of_memory(ran, "model_load", "weights");
  const Phase& last = ran.phases.back();
  EXPECT_GT(std::get<std::int64_t>(last.failure->requested_bytes.value), 0);
  EXPECT_LE(counter(last.end, "reserved_bytes.all.current"), weights / 2);
  EXPECT_GT(counter(last.end, "requested_bytes.current", "category:weights"), 0) << "the last counters are kept";
  EXPECT_EQ(counter(last.end, "num_ooms"), 1);
  ASSERT_TRUE(last.ledger_end);
  EXPECT_TRUE(last.ledger_end->balanced);
}

TEST(MeasureFailure, ABudgetForTheWeightsAloneFailsWhereTheCacheIsMade) {
  Workload work = wider();
  work.batch = 64;
  work.prompt_tokens = 8;
  work.decode_tokens = 2000;  // the static cache is 64 x 2008 x 1.5 KiB
  const std::int64_t weights = model::weights_of(work.model, "f32")->bytes;
  const auto ran = launch(work, test::host({{"memory_bytes", std::to_string(2 * weights + (32 << 20))}}));
  expect_out_of_memory(ran, "cold_forward", "kv");
  const std::int64_t one_tensor = work.batch * 2008 * work.model.kv_heads * work.model.head_dim * 4;
  EXPECT_EQ(ran.phases.back().failure->requested_bytes.value, Number(one_tensor));
}

TEST(MeasureFailure, AGrowingCacheCanRunOutInTheMiddleOfDecode) {
  Workload work = tiny();  // small matrices, and a cache of 12 KiB a token
  work.model.sliding_window = 0;
  work.model.query_heads = 8;
  work.model.kv_heads = 8;
  work.model.head_dim = 64;
  work.model.max_positions = 4096;
  work.kv = KvKind::growing;
  work.batch = 8;
  work.decode_tokens = 400;
  work.repeats = 1;
  work.warmups = 0;
  const auto ran = launch(work, test::host({{"memory_bytes", std::to_string(48 << 20)}}));
  expect_out_of_memory(ran, "decode", "kv");
}

TEST(MeasureFailure, OccupyingMoreThanThereIsFailsBeforeTheFirstLoad) {
  Workload work = tiny();
  work.occupy_bytes = std::int64_t{1} << 30;
  const auto ran = launch(work, test::host({{"memory_bytes", std::to_string(std::int64_t{256} << 20)}}));
  expect_out_of_memory(ran, "model_load", "");
  EXPECT_EQ(ran.phases.back().failure->requested_bytes.value, Number(work.occupy_bytes));
  EXPECT_EQ(counter(ran.phases.back().end, "device_used_bytes", "device"), 0);
}

TEST(MeasureFailure, MemoryHeldOutsideTheAllocatorIsNamedWhereItWouldHaveBeenEnough) {
  Workload work = wider();
  const std::int64_t weights = model::weights_of(work.model, "f32")->bytes;
  const std::int64_t budget = 4 * weights + (64 << 20);
  work.occupy_bytes = budget - (512 << 10);  // the first weights have a whole MiB
  const auto ran = launch(work, test::host({{"memory_bytes", std::to_string(budget)}}));
  ASSERT_FALSE(ran.result);
  ASSERT_TRUE(ran.phases.back().failure && ran.phases.back().failure->account) << ran.result.error().text;
  const auto& account = *ran.phases.back().failure->account;
  EXPECT_EQ(account.cause, "other_process") << account.sentence;
  EXPECT_GE(counter(account.terms, "outside_bytes", "device"), work.occupy_bytes);
  EXPECT_LT(counter(account.terms, "outside_bytes", "device"), work.occupy_bytes + 4096) << "whole pages";
  EXPECT_NE(account.sentence.find("of it by this process"), std::string::npos) << account.sentence;
}

TEST(MeasureFailure, AMissingModuleIsAFailedEnvironment) {
  auto device = test::host();
  device.module_path += ".missing";
  const auto ran = launch(tiny(), device);
  ASSERT_FALSE(ran.result);
  EXPECT_EQ(ran.result.error().code, ErrorCode::no_device);
  ASSERT_EQ(ran.phases.size(), 1u);
  EXPECT_EQ(ran.phases[0].name, "environment");
  EXPECT_EQ(ran.phases[0].failure->code, "no_device");
  EXPECT_FALSE(ran.phases[0].failure->requested_bytes.has_value());
  EXPECT_FALSE(ran.phases[0].failure->requested_bytes.reason.empty());
  EXPECT_TRUE(ran.phases[0].end.empty());
}

TEST(MeasureFailure, ARefusedOptionAndAnUnknownPolicyAreNamed) {
  const auto option = launch(tiny(), test::host({{"speed", "high"}}));
  ASSERT_FALSE(option.result);
  EXPECT_NE(option.result.error().text.find("speed"), std::string::npos) << option.result.error().text;
  const auto policy = launch(tiny(), test::host(), "hoarding");
  ASSERT_FALSE(policy.result);
  EXPECT_EQ(policy.result.error().code, ErrorCode::usage) << policy.result.error().text;
}

TEST(MeasureFailure, AnUnrunnableWorkloadIsRefusedBeforeAnyPhase) {
  Workload work = tiny();
  work.prompt_tokens = 4000;
  const auto ran = launch(work);
  ASSERT_FALSE(ran.result);
  EXPECT_EQ(ran.result.error().code, ErrorCode::usage);
  EXPECT_TRUE(ran.started.empty());
}

TEST(MeasureFailure, AReceiverThatFailsStopsTheLaunch) {
  LaunchRequest request;
  request.plan.devices = {test::host()};
  request.plan.workloads = {tiny()};
  for (int allowed = 0; allowed < 12; ++allowed) {
    int taken = 0;
    const auto result = execute_launch(request, [&](const JournalEntry&) -> Result<void> {
      if (taken++ < allowed) return {};
      return Error{ErrorCode::output, "the journal is full"};
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::output);
    EXPECT_EQ(taken, allowed + 1) << "nothing is sent after the refusal";
  }
  request.device = 1;
  EXPECT_EQ(execute_launch(request, [](const JournalEntry&) { return Result<void>(); }).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace assay::measure
