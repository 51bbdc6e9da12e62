// SPDX-License-Identifier: Apache-2.0
// The order of a run's processes, what a resumed one lacks, and what a child is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "suite/run/children.hpp"
#include "suite/run/consistency.hpp"
#include "suite/run/run.hpp"

namespace assay::run {
namespace {

using ::testing::HasSubstr;

Plan plan_of(std::size_t devices, std::size_t workloads, std::int64_t launches) {
  Plan plan;
  for (std::size_t i = 0; i < devices; ++i)
    plan.devices.push_back({"host:" + std::to_string(i), "host", "lib.so", static_cast<std::int64_t>(i), {}});
  Workload workload;
  workload.kind = WorkloadKind::dense;
  workload.width = workload.depth = 8;
  plan.workloads.assign(workloads, workload);
  plan.launches = launches;
  return plan;
}

TEST(Schedule, GoesForwardsThenBackwards) {
  const auto steps = schedule(plan_of(2, 1, 3));
  const std::vector<Step> expected{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 0, 2}, {1, 0, 2}};
  EXPECT_EQ(steps, expected);
}

TEST(Schedule, HasEveryLaunchOnce) {
  const auto steps = schedule(plan_of(3, 2, 4));
  EXPECT_EQ(steps.size(), 24U);
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(std::count(steps.begin(), steps.end(), steps[i]), 1) << i;
}

TEST(Schedule, WhatWasCutShortIsMissing) {
  const auto plan = plan_of(1, 1, 4);
  RunDocument document;
  document.devices.emplace_back();
  std::int64_t index = 0;
  for (const auto outcome : {LaunchOutcome::ok, LaunchOutcome::interrupted, LaunchOutcome::hung}) {
    Launch launch;
    launch.index = index++;
    launch.outcome = outcome;
    document.devices[0].launches.push_back(launch);
  }
  const std::vector<Step> expected{{0, 0, 1}, {0, 0, 3}};
  EXPECT_EQ(missing_steps(plan, document), expected);
  drop_cut_short(document);
  EXPECT_EQ(document.devices[0].launches.size(), 2U);
  EXPECT_EQ(missing_steps(plan, document), expected);
  EXPECT_EQ(missing_steps(plan, RunDocument{}).size(), 4U);
}

TEST(LaunchRequest, ComesBackTheSame) {
  const measure::LaunchRequest asked{plan_of(2, 2, 3), 1, 0, 17, {}, 80};
  const auto read = read_launch_request(write_launch_request(asked));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->plan, asked.plan);
  EXPECT_EQ(read->device, 1U);
  EXPECT_EQ(read->workload, 0U);
  EXPECT_EQ(read->order, 17);
  EXPECT_EQ(read->slow_permille, 80);
}

TEST(LaunchRequest, OfAnotherIsRefused) {
  const auto good = write_launch_request({plan_of(1, 1, 1), 0, 0, 0, {}});
  const auto rest = good.substr(good.find('\n'));
  for (const auto& text : {std::string(), std::string("0 0 0 0"), std::string("0 0 0\n{}"), "x 0 0 0" + rest,
                           "1 0 0 0" + rest, "0 1 0 0" + rest, "-1 0 0 0" + rest, "0 0 0 -1" + rest, "0 0 0" + rest,
                           "0 0 0 0 0" + rest, std::string("0 0 0 0\n{}"), "99999999999999999999 0 0 0" + rest}) {
    const auto read = read_launch_request(text);
    ASSERT_FALSE(read) << text.substr(0, 40);
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  }
}

TEST(LastWords, AreOnePrintableLine) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("one\ntwo\n\n"), "two");
  EXPECT_EQ(last_words("assay: no room\r\n"), "no room");
  EXPECT_EQ(last_words("a\x1b[1m\xff"), "a?[1m?");
}

TEST(PlanHash, ChangesWithThePlan) {
  auto plan = plan_of(1, 1, 1);
  const auto before = plan_hash(plan);
  ASSERT_TRUE(before);
  EXPECT_EQ(*plan_hash(plan), *before);
  plan.workloads[0].repeats = 4;
  EXPECT_NE(*plan_hash(plan), *before);
}

TEST(PlanHash, OfAnEditedPlanIsNoticed) {
  RunDocument document;
  document.plan = plan_of(1, 1, 1);
  document.run.plan_sha256 = *plan_hash(document.plan);
  document.plan.workloads[0].storage_dtype = "bf16";  // no other rule could see it
  const auto agrees = check_document(document, "d.json", false);
  ASSERT_FALSE(agrees);
  EXPECT_THAT(agrees.error().text, HasSubstr("its plan is not the one its run began with"));
  // A newer minor version may have plans this one does not know whole.
  const auto newer = check_document(document, "d.json", true);
  EXPECT_TRUE(newer || newer.error().text.find("its plan") == std::string::npos);
}

TEST(Names, OfTimesAndRuns) {
  EXPECT_TRUE(std::regex_match(timestamp(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
  EXPECT_TRUE(std::regex_match(random_id(), std::regex("[0-9a-f]{16}")));
  EXPECT_NE(random_id(), random_id());
}

}  // namespace
}  // namespace assay::run
