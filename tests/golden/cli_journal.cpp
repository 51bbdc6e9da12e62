// SPDX-License-Identifier: Apache-2.0
// The journal of a run: locked while the run is alive, replaced when it holds nothing, and never mistaken for
// another's.
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalOfARun : public Program {
 protected:
  // A run that hangs in its launch, once that is in the journal; its limit ends it after `seconds`.
  pid_t hanging_run(const char* seconds, const char* launches = "1") {
    ::setenv("ASSAY_FAULT", "memory_info:4:hang", 1);
    const pid_t pid =
        start({"measure", "--module", faulty_.string(), "--workload", "dense", "--batch", "2", "--context", "8",
               "--width", "32", "--depth", "2", "--time-limit", seconds, "--launches", launches, "-o", "out.json"});
    ::unsetenv("ASSAY_FAULT");
    for (int i = 0; i < 600 && text_of(journal()).find("\"phase\"") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return pid;
  }
  static int end_of(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }
  [[nodiscard]] fs::path journal() const { return root_ / "out.json.journal"; }
  const std::string small_ = "measure --backend host --workload dense --batch 2 --context 8 --width 32 --depth 2 ";
};

TEST_F(JournalOfARun, ThatIsAliveIsItsOwn) {
  const pid_t pid = hanging_run("600");
  for (const char* asked : {"recover out.json.journal", "recover out.json.journal -o other.json",
                            "measure --resume out.json.journal -o other.json"}) {
    const auto ran = run(asked);
    EXPECT_EQ(ran.exit, 73) << asked;
    EXPECT_THAT(ran.err, HasSubstr("alive")) << asked;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  const auto same = run(small_ + "-o out.json");
  EXPECT_EQ(same.exit, 73);
  EXPECT_THAT(same.err, HasSubstr("alive"));
  EXPECT_THAT(files(), ElementsAre("out.json.journal"));
  ::kill(pid, SIGKILL);
  end_of(pid);
  EXPECT_EQ(run("recover out.json.journal").exit, 0);
  EXPECT_EQ(run("validate out.json").exit, 0);
}

TEST_F(JournalOfARun, ThatHoldsNothingIsSaidAndReplaced) {
  const std::string header = "{\"assay_journal\":\"1.0.0\"}\n";
  for (const std::string& left :
       {std::string(), header.substr(0, 9), header.substr(0, header.size() - 1), header, header + "{\"entry\":\"run_st",
        header + "{\"entry\":\"run_st\n", header + std::string(100, '\0')}) {
    std::ofstream(journal()) << left;
    const auto recovered = run("recover out.json.journal");
    EXPECT_EQ(recovered.exit, 65) << left;
    EXPECT_THAT(recovered.err, HasSubstr("before anything was recorded")) << left;
    EXPECT_EQ(run("measure --resume out.json.journal -o other.json").exit, 65) << left;
    EXPECT_EQ(run(small_ + "-o out.json --dry-run").exit, 0) << left;
    EXPECT_TRUE(fs::exists(journal())) << "a dry run changes nothing";
    const auto ran = run(small_ + "-o out.json");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(files(), ElementsAre("out.json"));
    fs::remove(root_ / "out.json");
  }
}

TEST_F(JournalOfARun, AnotherFileOfItsNameIsNeverReplaced) {
  const std::string header = "{\"assay_journal\":\"1.0.0\"}\n";
  for (const std::string& mine : {std::string("mine"), std::string("{}\n"), header + "half\nand more\n"}) {
    std::ofstream(journal()) << mine;
    EXPECT_EQ(run(small_ + "-o out.json").exit, 73) << mine;
    EXPECT_EQ(text_of(journal()), mine);
  }
}

TEST_F(JournalOfARun, AFileThatTookItsPlaceStays) {
  const pid_t pid = hanging_run("4");
  fs::remove(journal());
  std::ofstream(journal()) << "mine";
  const int status = end_of(pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(text_of(journal()), "mine");
  EXPECT_EQ(run("validate out.json").exit, 0);
}

TEST_F(JournalOfARun, AProgramThatIsGoneEndsTheRunAndWhatWasMeasuredIsWritten) {
  // The run starts its children from the program's own file.
  const auto folder = root_ / "bin";
  fs::create_directories(folder);
  fs::copy_file(program_, folder / "assay");
  program_ = folder / "assay";
  const pid_t pid = hanging_run("3", "2");
  fs::remove(program_);
  const int status = end_of(pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 70);
  EXPECT_THAT(files(), ElementsAre("bin", "out.json"));
  program_ = fs::path(std::getenv("ASSAY_BIN_DIR")) / "assay";
  EXPECT_EQ(run("validate out.json").exit, 0);
  const auto document = Json::parse(text_of(root_ / "out.json"));
  EXPECT_EQ(document.at("devices").at(0).at("launches").size(), 1U);
  EXPECT_EQ(document.at("failures").at(1).at("code"), "not_run");
}

}  // namespace
}  // namespace assay::testing_cli
