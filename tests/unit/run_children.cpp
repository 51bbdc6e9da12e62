// SPDX-License-Identifier: Apache-2.0
// What a run makes of its children: scripts play the program, and say and do what a child could.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "results-schema/json/json.hpp"
#include "suite/run/children.hpp"

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Children : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("assay-children-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    request_.plan.devices = {{"host:0", "host", "lib.so", 0, {}}};
    Workload workload;
    workload.kind = WorkloadKind::dense;
    workload.width = workload.depth = 8;
    request_.plan.workloads = {workload};
    request_.plan.time_limit_s = 2;
    request_.program = (folder_ / "program").string();
    request_.output = folder_ / "out.json";
    auto recorder = Recorder::create(request_.output);
    ASSERT_TRUE(recorder) << recorder.error().text;
    recorder_.emplace(std::move(*recorder));
    RunDocument document;
    document.run.id = "id";
    document.run.started_at = timestamp();
    document.run.suite_version = document.run.suite_commit = "x";
    document.run.argv = {"assay"};
    document.plan = request_.plan;
    document.devices.emplace_back();
    document.devices.back().name = "host:0";
    document.devices.back().module_path = "lib.so";
    const auto told = recorder_->record(RunStarted{document});
    ASSERT_TRUE(told) << told.error().text;
  }
  void TearDown() override {
    recorder_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // The program: says `entries` on its report, then runs `rest` as a shell does.
  void program(const std::vector<JournalEntry>& entries, const std::string& rest) {
    std::ofstream says(folder_ / "says");
    for (const auto& entry : entries) says << json::to_line(entry) << '\n';
    says.close();
    const auto path = folder_ / "program";
    std::ofstream(path) << "#!/bin/sh\ncat '" << (folder_ / "says").string() << "' >&3\n" << rest << '\n';
    ::chmod(path.c_str(), 0755);
  }
  Launch launch() {
    const LaunchJob job{request_, Step{0, 0, 0}, 0, {}};
    const auto done = run_launch(job, *recorder_);
    EXPECT_TRUE(done) << done.error().text;
    return recorder_->document().devices.at(0).launches.at(0);
  }
  std::vector<Case> check(bool& good) {
    const auto done = check_kernels(request_, 0, *recorder_);
    EXPECT_TRUE(done) << done.error().text;
    good = done && *done;
    return recorder_->document().devices.at(0).cases;
  }
  static std::vector<JournalEntry> phase(std::int64_t order) {
    Phase done;
    done.name = "environment";
    done.duration = {std::int64_t{5}, "ns", Basis::observed, ""};
    return {PhaseStarted{order, "environment", 0}, PhaseFinished{order, done}};
  }
  static CaseChecked checked(CaseStatus status) {
    Case one;
    one.name = "copy/f32/portable";
    one.kernel = "copy";
    one.dtype = "f32";
    one.implementation = "portable";
    one.status = status;
    return {"host:0", one};
  }

  fs::path folder_;
  Request request_;
  std::optional<Recorder> recorder_;
};

TEST_F(Children, ALaunchThatEndsWellIsOk) {
  program(phase(0), "exit 0");
  EXPECT_EQ(launch().outcome, LaunchOutcome::ok);
}

TEST_F(Children, ALaunchThatReportsNoPhaseIsNotOk) {
  program({}, "exit 0");
  const auto ended = launch();
  EXPECT_EQ(ended.outcome, LaunchOutcome::failed);
  EXPECT_THAT(ended.message, HasSubstr("without reporting a phase"));
}

TEST_F(Children, ALaunchThatSpeaksForAnotherIsNotBelieved) {
  program(phase(7), "exit 0");
  const auto ended = launch();
  EXPECT_EQ(ended.outcome, LaunchOutcome::failed);
  EXPECT_THAT(ended.message, HasSubstr("not its own"));
  EXPECT_TRUE(ended.phases.empty());
}

TEST_F(Children, ALaunchThatTalksNonsenseIsNotBelieved) {
  program(phase(0), "echo 'no entry' >&3; exit 0");
  EXPECT_EQ(launch().outcome, LaunchOutcome::failed);
}

TEST_F(Children, ALaunchsLastWordsAreItsMessage) {
  program(phase(0), "echo first >&2; printf 'assay: out of \\033[31mroom' >&2; exit 6");
  const auto ended = launch();
  EXPECT_EQ(ended.outcome, LaunchOutcome::failed);
  EXPECT_EQ(ended.exit_code, 6);
  EXPECT_EQ(ended.message, "out of ?[31mroom");
}

TEST_F(Children, ALaunchEndedByASignalCrashed) {
  program(phase(0), "kill -SEGV $$");
  const auto ended = launch();
  EXPECT_EQ(ended.outcome, LaunchOutcome::crashed);
  EXPECT_THAT(ended.message, HasSubstr("SIGSEGV"));
}

TEST_F(Children, ALaunchBeyondItsLimitHung) {
  program(phase(0), "exec sleep 60");
  const auto ended = launch();
  EXPECT_EQ(ended.outcome, LaunchOutcome::hung);
  EXPECT_THAT(ended.message, HasSubstr("2 s"));
}

TEST_F(Children, AProgramThatIsNotThereIsSaidSo) {
  const LaunchJob job{request_, Step{0, 0, 0}, 0, {}};
  const auto done = run_launch(job, *recorder_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::internal);
  EXPECT_THAT(done.error().text, HasSubstr("is not there any more"));
}

TEST_F(Children, ChecksThatAreRightAreGood) {
  bool good = false;
  program({checked(CaseStatus::ok), checked(CaseStatus::unsupported)}, "exit 0");
  EXPECT_EQ(check(good).size(), 2U);
  EXPECT_TRUE(good);
}

TEST_F(Children, AWrongCheckIsNotGood) {
  bool good = true;
  program({checked(CaseStatus::wrong)}, "exit 0");
  EXPECT_EQ(check(good).size(), 1U);
  EXPECT_FALSE(good);
}

TEST_F(Children, ChecksThatDoNotWorkSayWhyOnce) {
  struct Way {
    const char* rest;
    const char* code;
    const char* says;
  };
  for (const auto& way : {Way{"exec sleep 60", "hung", "after 1 of them, the last copy/f32/portable"},
                          Way{"kill -ABRT $$", "crashed", "SIGABRT"}, Way{"exit 3", "internal", "reported nothing"},
                          Way{"echo 'assay: no room' >&2; exit 70", "internal", "no room"},
                          Way{"echo nonsense >&3; exit 0", "internal", "kernel checks' report"}}) {
    bool good = true;
    program({checked(CaseStatus::ok)}, way.rest);
    const auto cases = check(good);
    EXPECT_FALSE(good) << way.rest;
    EXPECT_EQ(cases.back().status, CaseStatus::failed) << way.rest;
    EXPECT_EQ(cases.back().code, way.code) << way.rest;
    EXPECT_THAT(cases.back().message, HasSubstr(way.says)) << way.rest;
    EXPECT_EQ(cases.size() % 2, 0U) << "one right case and one that says why";
  }
}

TEST_F(Children, ChecksInTheChildsOwnWordsAreNotSaidAgain) {
  bool good = true;
  auto failed = checked(CaseStatus::failed);
  failed.checked.code = "no_device";
  failed.checked.message = "the device went away";
  program({failed}, "echo 'assay: the device went away' >&2; exit 2");
  const auto cases = check(good);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].code, "no_device");
  EXPECT_FALSE(good);
}

}  // namespace
}  // namespace assay::run
