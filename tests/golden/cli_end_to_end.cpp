// SPDX-License-Identifier: Apache-2.0
// assay run and measure as a user sees them: documents, exit codes, and what is left after every kind of failure.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSmall =
    "measure --backend host --workload dense --batch 2 --context 8 --width 32 --depth 2 --repeats 2 ";

class EndToEnd : public Program {
 protected:
  [[nodiscard]] Json document(const std::string& name) const { return Json::parse(text_of(root_ / name)); }
  [[nodiscard]] std::string faulty_run(const std::string& more = "") const {
    return "measure --module '" + faulty_.string() +
           "' --workload dense --batch 2 --context 8 --width 32 --depth 2 --repeats 2 -o out.json " + more;
  }
  void expect_valid(const std::string& name) const { EXPECT_EQ(run("validate " + name).exit, 0) << name; }
};

TEST_F(EndToEnd, AMeasurementIsAValidDocumentAndASummary) {
  const auto ran = run(std::string(kSmall) + "-o out.json");
  EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("CPU measurement"));
  EXPECT_THAT(ran.out, HasSubstr("Ledger: balanced"));
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(files(), ElementsAre("out.json"));
  const auto d = document("out.json");
  EXPECT_EQ(d.at("status"), "ok");
  EXPECT_EQ(d.at("kind"), "measure");
  expect_valid("out.json");
  EXPECT_EQ(run("report out.json").exit, 0);
  EXPECT_THAT(run("report --card out.json").out, HasSubstr("Largest load tested whole: dense network"));
}

TEST_F(EndToEnd, ADecoderOfTheShippedModelsRuns) {
  const auto ran =
      run("run --backend host --model decoder-tiny --prompt 8 --decode 2 --repeats 2 --launches 2 -o r.json");
  EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
  const auto d = document("r.json");
  const auto& launches = d.at("devices").at(0).at("launches");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches.at(0).at("checksum"), launches.at(1).at("checksum"));
  EXPECT_THAT(ran.out, HasSubstr("Time to first token"));
}

TEST_F(EndToEnd, WithoutANetworkNothingIsDifferent) {
  if (std::system("unshare -n true 2>/dev/null") != 0) GTEST_SKIP() << "this user may not make a network namespace";
  const std::string plain = "run --backend host --model decoder-tiny --prompt 8 --decode 2 --repeats 2 ";
  EXPECT_EQ(run(plain + "-o with.json").exit, 0);
  const auto ran = run(plain + "-o without.json", "unshare -n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const auto with = document("with.json").at("devices").at(0).at("launches").at(0);
  const auto without = document("without.json").at("devices").at(0).at("launches").at(0);
  EXPECT_EQ(with.at("checksum"), without.at("checksum"));
  ASSERT_EQ(with.at("phases").size(), without.at("phases").size());
  for (std::size_t i = 0; i < with.at("phases").size(); ++i)
    EXPECT_EQ(with.at("phases").at(i).at("executed"), without.at("phases").at(i).at("executed"));
}

TEST_F(EndToEnd, AnOutputIsNeverOverwritten) {
  std::ofstream(root_ / "out.json") << "mine";
  const auto ran = run(std::string(kSmall) + "-o out.json");
  EXPECT_EQ(ran.exit, 73);
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(text_of(root_ / "out.json"), "mine");
  EXPECT_THAT(files(), ElementsAre("out.json"));
}

TEST_F(EndToEnd, AFolderThatCannotBeWrittenIsRefusedBeforeAnythingIsMeasured) {
  EXPECT_EQ(run(std::string(kSmall) + "-o missing/out.json").exit, 73);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to a read-only folder";
  fs::permissions(root_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(run(std::string(kSmall) + "-o out.json").exit, 73);
}

TEST_F(EndToEnd, TooLittleMemoryLeavesAValidPartialDocument) {
  const auto small =
      run("measure --backend host --workload dense --batch 2 --context 8 --width 2048 --depth 4 --host-memory 24MiB -o "
          "o.json");
  EXPECT_EQ(small.exit, 6) << small.err << small.out;
  EXPECT_THAT(files(), ElementsAre("o.json"));
  expect_valid("o.json");
  const auto d = document("o.json");
  EXPECT_NE(d.at("status"), "ok");
  EXPECT_EQ(d.at("failures").at(0).at("code"), "out_of_memory");
  EXPECT_EQ(d.at("failures").at(0).at("phase"), "model_load");
  EXPECT_THAT(small.out, HasSubstr("out_of_memory"));
}

TEST_F(EndToEnd, DryRunPrintsAPlanThatCanBeRun) {
  const auto plan = run(std::string(kSmall) + "--dry-run");
  EXPECT_EQ(plan.exit, 0);
  EXPECT_THAT(files(), IsEmpty());
  std::ofstream(root_ / "plan.json") << plan.out;
  const auto ran = run("run --plan plan.json -o out.json");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(document("out.json").at("plan"), Json::parse(plan.out));
}

TEST_F(EndToEnd, AHungLaunchIsStoppedAndTheOthersAreKept) {
  const auto ran = run("run --device host:0 --device '" + faulty_.string() +
                           "' --workload dense --batch 2 --context 8 --width 32 --depth 2 --time-limit 3 -o out.json",
                       "ASSAY_FAULT=memory_info:3:hang");
  EXPECT_EQ(ran.exit, 7) << ran.err << ran.out;
  expect_valid("out.json");
  const auto d = document("out.json");
  EXPECT_EQ(d.at("status"), "partial");
  EXPECT_EQ(d.at("devices").at(0).at("launches").at(0).at("outcome"), "ok");
  EXPECT_EQ(d.at("devices").at(1).at("launches").at(0).at("outcome"), "hung");
}

TEST_F(EndToEnd, ACrashAndAFaultAreRecorded) {
  // AddressSanitizer would turn the signal into an exit.
  const auto crash = run(faulty_run(), "ASAN_OPTIONS=handle_segv=0 ASSAY_FAULT=memory_info:4:crash");
  EXPECT_EQ(crash.exit, 6) << crash.err << crash.out;
  expect_valid("out.json");
  const Json launch = document("out.json").at("devices").at(0).at("launches").at(0);
  EXPECT_EQ(launch.at("outcome"), "crashed");
  EXPECT_EQ(launch.at("signal"), SIGSEGV);
  fs::remove(root_ / "out.json");
  const auto fault = run(faulty_run(), "ASSAY_FAULT=memory_info:5:kernel_fault");
  EXPECT_EQ(fault.exit, 6) << fault.err << fault.out;
  expect_valid("out.json");
  EXPECT_EQ(document("out.json").at("devices").at(0).at("launches").at(0).at("outcome"), "failed");
}

TEST_F(EndToEnd, AnInterruptWritesWhatThereIsAndLeavesNoChild) {
  ::setenv("ASSAY_FAULT", "memory_info:4:hang", 1);
  const pid_t pid = start({"measure", "--module", faulty_.string(), "--workload", "dense", "--batch", "2", "--context",
                           "8", "--width", "32", "--depth", "2", "-o", "out.json"});
  ::unsetenv("ASSAY_FAULT");
  const auto journal = root_ / "out.json.journal";
  for (int i = 0; i < 600 && text_of(journal).find("LaunchStarted") == std::string::npos &&
                  text_of(journal).find("phase") == std::string::npos;
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(pid, SIGINT);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(files(), ElementsAre("out.json"));
  expect_valid("out.json");
  EXPECT_EQ(document("out.json").at("devices").at(0).at("launches").at(0).at("outcome"), "interrupted");
  EXPECT_THAT(processes_with(faulty_.string()), IsEmpty());
}

TEST_F(EndToEnd, KilledAtAnyMomentItLeavesADocumentOrAJournalAndNoChild) {
  const std::string marker = (root_ / "out").string();
  for (int round = 0; round < 10; ++round) {
    const auto name = marker + std::to_string(round) + ".json";
    const pid_t pid = start({"measure", "--backend", "host", "--workload", "dense", "--batch", "2", "--context", "64",
                             "--width", "256", "--depth", "2", "--repeats", "20", "-o", name});
    // Moments spread over start, checks, launch and end of a run that takes about half a second.
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 97 * round));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const bool whole = fs::exists(name);
    const bool journal = fs::exists(name + ".journal");
    if (whole) {
      EXPECT_EQ(run("validate " + name).exit, 0) << round;
    } else if (journal) {
      const auto recovered = run("recover " + name + ".journal");
      // Killed before the first event was on disk, there is nothing to recover, and that is said.
      if (text_of(name + ".journal").size() > 10'000) {
        EXPECT_EQ(recovered.exit, 0) << recovered.err;
      }
      if (recovered.exit == 0) {
        EXPECT_EQ(run("validate " + name).exit, 0);
      }
    }
  }
  for (int i = 0; i < 100 && !processes_with("__launch").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const pid_t pid : processes_with(program_.string() + std::string(1, '\0') + "__"))
    ADD_FAILURE() << "process " << pid << " was left behind";
}

TEST_F(EndToEnd, ARunCutShortIsCompletedFromItsJournal) {
  const auto first =
      run("measure --backend host --workload dense --batch 2 --context 8 --width 32 --depth 2 --launches 2 "
          "-o whole.json");
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(run("measure --resume whole.json -o again.json").exit, 64);  // nothing is missing
  ::setenv("ASSAY_FAULT", "memory_info:4:hang", 1);
  const pid_t pid = start({"measure", "--module", faulty_.string(), "--workload", "dense", "--batch", "2", "--context",
                           "8", "--width", "32", "--depth", "2", "-o", "out.json"});
  ::unsetenv("ASSAY_FAULT");
  const auto journal = root_ / "out.json.journal";
  for (int i = 0; i < 600 && text_of(journal).find("phase") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ASSERT_TRUE(fs::exists(journal));
  // The journal stands in the way of a new run of that name.
  EXPECT_EQ(run(faulty_run()).exit, 73);
  const auto resumed = run("measure --resume out.json.journal -o complete.json");
  EXPECT_EQ(resumed.exit, 0) << resumed.err << resumed.out;
  expect_valid("complete.json");
  EXPECT_EQ(document("complete.json").at("status"), "ok");
}

TEST_F(EndToEnd, AFullDiskIsThatAndTheJournalIsKept) {
  // A limit on the size of files is a disk that fills up while the journal grows.
  const auto ran = run(std::string(kSmall) + "-o out.json", "ulimit -f 30; trap '' XFSZ;");
  EXPECT_EQ(ran.exit, 73) << ran.err << ran.out;
  EXPECT_THAT(files(), ElementsAre("out.json.journal"));
  EXPECT_THAT(ran.err, HasSubstr("assay recover"));
  EXPECT_EQ(run("recover out.json.journal").exit, 0);
  expect_valid("out.json");
}

}  // namespace
}  // namespace assay::testing_cli
