// SPDX-License-Identifier: Apache-2.0
// The verdict rule on documents: what each kind of series leads to, and with which exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/canned.hpp"
#include "tests/support/series_of_launches.hpp"

namespace assay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Rule : public ::testing::Test {
 protected:
  static const Identity& board() {
    static const Identity identity = canned::identity_of("h100");
    return identity;
  }
  static RunDocument baseline(std::size_t cases = 3, std::size_t launches = 7) {
    return run_document(board(), {"a", cases, launches, 3, 0, 2}, steady(1000, 1));
  }
  static RunDocument candidate(double level, std::size_t cases = 3, std::size_t launches = 7) {
    return run_document(board(), {"b", cases, launches, 3, 1, 2}, steady(level, 2));
  }
};

TEST_F(Rule, ASlowDownBeyondTheMarginIsARegression) {
  const auto comparison = compared(baseline(), candidate(1100));
  ASSERT_TRUE(comparison) << comparison.error().text;
  EXPECT_EQ(comparison->exit_code, 1);
  EXPECT_EQ(comparison->counts.regressed, 3);
  EXPECT_EQ(comparison->identity.relation, IdentityRelation::same);
  const auto& said = comparison->cases.front();
  EXPECT_NEAR(*said.ratio.value, 1.1, 0.002);
  ASSERT_TRUE(said.interval.bounds);
  EXPECT_LT(said.interval.bounds->first, 1.1);
  EXPECT_GT(said.interval.bounds->second, 1.099);
  EXPECT_LT(*said.adjusted_p.value, 0.05);
}

TEST_F(Rule, SpeedUpsNeverFail) {
  const auto comparison = compared(baseline(4), candidate(500, 4));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 0);
  EXPECT_EQ(comparison->counts.improved, 4);
}

TEST_F(Rule, AChangeInsideTheMarginIsTheSame) {
  const auto comparison = compared(baseline(), candidate(1020));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 0);
  EXPECT_EQ(comparison->counts.same, 3);
  compare::Options tight;
  tight.margin = 0.01;
  EXPECT_EQ(compared(baseline(), candidate(1020), tight)->counts.regressed, 3);
}

TEST_F(Rule, WhereOnlyTheAnchorMatchesNothingWasComparable) {
  const auto of_width = [](const char* id, std::size_t first, std::int64_t width) {
    Side side{id, 2, 7, 3, first, 2};
    side.anchor = true;
    auto document = run_document(board(), side, steady(1000, first + 1));
    document.plan.workloads.front().width = width;
    json::finish(document);
    return document;
  };
  const auto comparison = compared(of_width("a", 0, 64), of_width("b", 1, 128));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 3);
  EXPECT_NE(find_case(*comparison, "device_copy"), nullptr);
  EXPECT_FALSE(comparison->unmatched.empty());
  EXPECT_EQ(compared(of_width("a", 0, 64), of_width("b", 1, 64))->exit_code, 0);
}

TEST_F(Rule, TwoHundredFiftySixRegressionsExitWithOne) {
  const auto comparison = compared(baseline(256, 8), candidate(1500, 256, 8));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 1);
  EXPECT_EQ(comparison->counts.regressed, 256);
  EXPECT_EQ(comparison->rule.launches_least, 8);
}

TEST_F(Rule, AFamilyTooLargeForItsLaunchesIsInconclusive) {
  const auto comparison = compared(baseline(86, 7), candidate(1500, 86, 7));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 4);
  EXPECT_EQ(comparison->counts.inconclusive, 86);
  EXPECT_EQ(comparison->cases.front().launches_needed, 8);
  EXPECT_EQ(compared(baseline(85, 7), candidate(1500, 85, 7))->exit_code, 1);
}

TEST_F(Rule, OneLaunchASideIsInconclusiveAtBest) {
  for (const double level : {1000.0, 2000.0}) {
    const auto comparison = compared(baseline(3, 1), candidate(level, 3, 1));
    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->exit_code, 4);
    EXPECT_EQ(comparison->counts.inconclusive, 3);
    EXPECT_THAT(comparison->cases.front().reason, HasSubstr("one launch"));
    EXPECT_FALSE(comparison->cases.front().interval.bounds);
  }
}

TEST_F(Rule, NoiseThatHidesTheAnswerSaysHowManyLaunchesWouldDecide) {
  const Sampler noisy = [](std::size_t, std::size_t launch, std::size_t) { return launch % 2 == 0 ? 1000.0 : 1100.0; };
  const auto a = run_document(board(), {"a", 1, 8, 3, 0, 2}, noisy);
  const auto b = run_document(board(), {"b", 1, 8, 3, 1, 2}, noisy);
  const auto comparison = compared(a, b);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 4);
  EXPECT_GT(comparison->cases.front().launches_needed.value_or(0), 8);
  EXPECT_THAT(comparison->cases.front().reason, HasSubstr("would decide"));
}

TEST_F(Rule, ACaseOfOneSideIsListedAndTheOthersAreJudged) {
  const auto comparison = compared(baseline(3), candidate(1000, 5));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 0);
  EXPECT_EQ(comparison->counts.same, 3);
  ASSERT_THAT(comparison->unmatched, SizeIs(2));
  EXPECT_EQ(comparison->unmatched.front().missing_in, "baseline");
  const auto other = compared(baseline(5), candidate(1000, 3));
  ASSERT_THAT(other->unmatched, SizeIs(2));
  EXPECT_EQ(other->unmatched.front().missing_in, "candidate");
}

TEST_F(Rule, ACaseOfOneNameAndAnotherShapeIsNotTheSameCase) {
  auto other = candidate(1000);
  other.plan.workloads.front().seed = 9;
  const auto comparison = compared(baseline(), other);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 3);
  EXPECT_THAT(comparison->cases, IsEmpty());
  ASSERT_FALSE(comparison->unmatched.empty());
  EXPECT_EQ(comparison->unmatched.front().missing_in, "neither");
  EXPECT_THAT(comparison->unmatched.front().reason, HasSubstr("seed"));
}

TEST_F(Rule, AWrongResultExcludesAndExitsWithFive) {
  auto wrong = candidate(2000);
  Case checked;
  checked.name = "rmsnorm/f32/portable";
  checked.kernel = "rmsnorm";
  checked.dtype = "f32";
  checked.implementation = "portable";
  checked.status = CaseStatus::wrong;
  wrong.devices.front().cases.push_back(checked);
  json::finish(wrong);
  const auto comparison = compared(baseline(), wrong);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 5);
  EXPECT_EQ(comparison->counts.excluded, 3);
  EXPECT_THAT(comparison->cases.front().reason, HasSubstr("rmsnorm"));
}

TEST_F(Rule, AFailedLaunchOfTheCandidateOutranksItsRegressions) {
  auto failed = candidate(2000, 3, 8);
  failed.devices.front().launches.back().outcome = LaunchOutcome::crashed;
  json::finish(failed);
  EXPECT_EQ(compared(baseline(), failed)->exit_code, 6);
  failed.devices.front().launches.back().outcome = LaunchOutcome::hung;
  json::finish(failed);
  const auto comparison = compared(baseline(), failed);
  EXPECT_EQ(comparison->exit_code, 7);
  EXPECT_EQ(comparison->counts.regressed, 3);
  EXPECT_THAT(comparison->notes, SizeIs(1));
}

TEST_F(Rule, AFlaggedLaunchIsLeftOutVisibly) {
  auto flagged = candidate(1000, 1, 8);
  auto& samples = flagged.devices.front().launches.front().samples.front();
  samples.flags = {"throttled: power", "", ""};
  samples.values = {9000, 9000, 9000};
  const auto comparison = compared(baseline(1, 8), flagged);
  ASSERT_TRUE(comparison);
  const auto& said = comparison->cases.front();
  EXPECT_EQ(said.verdict, Verdict::same);
  EXPECT_THAT(said.candidate.medians, SizeIs(7));
  ASSERT_THAT(said.candidate.left_out, SizeIs(1));
  EXPECT_EQ(said.candidate.left_out.front().launch, "b#0");
  EXPECT_THAT(said.candidate.left_out.front().reason, HasSubstr("throttled"));
  // One of ten flagged samples is a tenth, not more.
  auto few = run_document(board(), {"b", 1, 8, 10, 1, 2}, steady(1000, 2));
  few.devices.front().launches.front().samples.front().flags = {"throttled: power", "", "", "", "", "", "", "", "", ""};
  EXPECT_THAT(compared(baseline(1, 8), few)->cases.front().candidate.medians, SizeIs(8));
}

TEST_F(Rule, LeftOutLaunchesCanLeaveTooFew) {
  auto flagged = candidate(2000, 1, 7);
  flagged.devices.front().launches.front().samples.front().flags = {"throttled: power", "", ""};
  const auto comparison = compared(baseline(1, 7), flagged);
  EXPECT_EQ(comparison->exit_code, 4);
  EXPECT_THAT(comparison->cases.front().reason, HasSubstr("too few"));
}

TEST_F(Rule, MemoryGrowthIsAFindingOfItsOwn) {
  auto grown = candidate(1000);
  for (auto& launch : grown.devices.front().launches)
    launch.phases.front().end.back() = peak("reserved_bytes.all.peak", 8193);
  const auto comparison = compared(baseline(), grown);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->exit_code, 1);
  EXPECT_EQ(comparison->counts.memory_grown, 1);
  EXPECT_EQ(comparison->counts.regressed, 0);
  compare::Options tolerant;
  tolerant.memory_tolerance_bytes = 1;
  EXPECT_EQ(compared(baseline(), grown, tolerant)->exit_code, 0);
  const auto back = compared(grown, candidate(1000));
  EXPECT_THAT(back.error().text, HasSubstr("stands in"));  // the same launches on both sides
}

TEST_F(Rule, OtherAllocatorsAreTimedButNotComparedInMemory) {
  auto program = canned::machine();
  for (auto& field : program)
    if (field.key == "allocator_policy") field.value = std::string("expandable");
  auto other = candidate(1000);
  other.devices.front().identity = canned::identity_of("h100", {}, program);
  const auto comparison = compared(baseline(), other);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->counts.same, 3);
  EXPECT_THAT(comparison->memory, IsEmpty());
  EXPECT_FALSE(comparison->identity.pairs.front().memory_comparable);
}

TEST_F(Rule, BeforeAndAfterNeedAnAnchorThatStoodStill) {
  const auto sides = [&](double candidate_level, double anchor_level) {
    Side before{"a", 2, 8, 3, 0, 1};
    Side after{"b", 2, 8, 3, 100, 1};
    before.anchor = after.anchor = anchor_level > 0;
    before.anchor_sample = steady(1000, 3);
    after.anchor_sample = steady(anchor_level, 4);
    return *compared(run_document(board(), before, steady(1000, 1)),
                     run_document(board(), after, steady(candidate_level, 2)));
  };
  const auto none = sides(1200, 0);
  EXPECT_TRUE(none.identity.pairs.front().time_confounded);
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.cases.front().reason, HasSubstr("time-confounded"));
  const auto drifted = sides(1200, 1200);
  EXPECT_EQ(drifted.exit_code, 4);
  EXPECT_EQ(drifted.counts.regressed, 0);
  EXPECT_EQ(find_case(drifted, "device_copy")->verdict, Verdict::regressed) << "shown as what it is, counted nowhere";
  EXPECT_THAT(find_case(drifted, "case_000")->reason, HasSubstr("anchor"));
  const auto still = sides(1200, 1000);
  EXPECT_EQ(still.exit_code, 1);
  EXPECT_EQ(find_case(still, "case_000")->verdict, Verdict::regressed);
  EXPECT_EQ(still.rule.family, 2);
}

TEST_F(Rule, DifferentBoardsNeedThreeASide) {
  const auto on = [&](const char* id, std::size_t board_number, double level, std::size_t first) {
    auto document = run_document(board(), {id, 1, 7, 3, first, 2}, steady(level, board_number));
    for (auto& field : document.devices.front().identity.fields)
      if (field.key == "uuid") field.value = "nvidia:GPU-" + std::to_string(board_number);
    document.run.id += std::to_string(board_number);
    return compare::Source{"run.json", document};
  };
  const auto sides = [&](std::size_t boards, double level, double spread) {
    std::vector<compare::Source> a;
    std::vector<compare::Source> b;
    for (std::size_t i = 0; i < boards; ++i) {
      const double own = 1 + spread * static_cast<double>(i);
      a.push_back(on("a", i, 1000 * own, 0));
      b.push_back(on("b", 10 + i, level * own, 1));
    }
    return *compare::compare_sources(a, b, {});
  };
  const auto one = sides(1, 1500, 0);
  EXPECT_EQ(one.exit_code, 4);
  EXPECT_THAT(one.cases.front().reason, HasSubstr("different boards: 1 and 1"));
  EXPECT_EQ(sides(2, 1500, 0.02).exit_code, 4);
  EXPECT_EQ(sides(3, 1500, 0.02).exit_code, 1);
  const auto overlapping = sides(3, 1050, 0.05);
  EXPECT_EQ(overlapping.exit_code, 4);
  EXPECT_THAT(overlapping.cases.front().reason, HasSubstr("overlap"));
}

TEST_F(Rule, AnUnknownBoardIsADifferentBoard) {
  auto a = baseline();
  auto b = candidate(1500);
  for (auto* document : {&a, &b})
    for (auto& field : document->devices.front().identity.fields)
      if (field.key == "uuid") {
        field.state = FieldState::unknown;
        field.reason = "not readable";
      }
  const auto comparison = compared(a, b);
  EXPECT_EQ(comparison->exit_code, 4);
  EXPECT_THAT(comparison->cases.front().reason, HasSubstr("different boards"));
}

TEST_F(Rule, ALaunchGivenTwiceIsBadInput) {
  const auto a = baseline();
  const auto comparison = compared(a, a);
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().code, ErrorCode::bad_input);
  EXPECT_THAT(comparison.error().text, HasSubstr("a#0"));
}

TEST_F(Rule, DocumentsOfOnePlanMakeOneSeriesWhereverTheyRan) {
  std::vector<compare::Source> a;
  std::vector<compare::Source> b;
  for (std::size_t i = 0; i < 7; ++i) {
    Side side{"a" + std::to_string(i), 2, 1, 3, 2 * i, 1};
    a.push_back({"a.json", run_document(board(), side, steady(1000, i))});
    side.id[0] = 'b';
    side.first_second = 2 * i + 1;
    auto other = run_document(board(), side, steady(1300, i + 50));
    for (auto& field : other.devices.front().identity.fields)
      if (field.key == "host_name") field.value = "node" + std::to_string(i);
    b.push_back({"b.json", std::move(other)});
  }
  const auto comparison = compare::compare_sources(a, b, {});
  ASSERT_TRUE(comparison) << comparison.error().text;
  EXPECT_EQ(comparison->counts.regressed, 2);
  EXPECT_EQ(comparison->identity.pairs.front().candidate.launches_ok, 7);
  // One of them with another driver is no part of the series.
  for (auto& field : b.back().document.devices.front().identity.fields)
    if (field.key == "driver") field.value = std::string("999.99");
  const auto refused = compare::compare_sources(a, b, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_comparable);
  EXPECT_THAT(refused.error().text, HasSubstr("driver"));
}

TEST_F(Rule, PlansThatDifferAreNoSeries) {
  auto other = candidate(1000);
  other.run.id = "c";
  other.plan.workloads.front().batch = 4;
  const std::vector<compare::Source> b{{"one.json", candidate(1000)}, {"two.json", other}};
  const std::vector<compare::Source> a{{"a.json", baseline()}};
  const auto refused = compare::compare_sources(a, b, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_comparable);
}

TEST_F(Rule, AcceptedRegressionsDoNotFailUntilTheyExpire) {
  compare::Options options;
  options.today = "2026-06-01";
  options.baseline.accepted = {{"*case_00?", 1.2, {"known since the toolkit upgrade", "2026-12-31"}}};
  const auto accepted = compared(baseline(), candidate(1100), options);
  EXPECT_EQ(accepted->exit_code, 0);
  EXPECT_EQ(accepted->counts.regressed, 3);
  EXPECT_EQ(accepted->counts.accepted, 3);
  EXPECT_EQ(compared(baseline(), candidate(1300), options)->exit_code, 1) << "worse than what was accepted";
  options.today = "2027-01-01";
  const auto expired = compared(baseline(), candidate(1100), options);
  EXPECT_EQ(expired->exit_code, 1);
  EXPECT_THAT(expired->notes, SizeIs(3));
}

TEST_F(Rule, AMarginOfItsOwnHoldsForItsCase) {
  compare::Options options;
  options.baseline.margins = {{"*case_001", 0.2}};
  const auto comparison = compared(baseline(), candidate(1100), options);
  EXPECT_EQ(comparison->counts.regressed, 2);
  EXPECT_EQ(find_case(*comparison, "case_001")->verdict, Verdict::same);
}

TEST_F(Rule, RatesAreBetterWhenHigher) {
  auto a = baseline(1);
  auto b = candidate(500, 1);
  for (auto* document : {&a, &b})
    for (auto& launch : document->devices.front().launches) launch.samples.front().unit = "tokens/s";
  EXPECT_EQ(compared(a, b)->counts.regressed, 1);
  EXPECT_EQ(compared(b, a)->counts.improved, 1);
}

}  // namespace
}  // namespace assay::test
