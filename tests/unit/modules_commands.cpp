// SPDX-License-Identifier: Apache-2.0
// assay backends and assay environment as a user runs them: what they print, and the exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results-schema/json/json.hpp"
#include "tests/support/canned.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

// A folder with the program in it and nothing else but the modules a test puts there.
class Commands : public testing::Test {
 protected:
  void SetUp() override {
    const char* bin = std::getenv("ASSAY_BIN_DIR");
    ASSERT_NE(bin, nullptr);
    bin_ = bin;
    root_ = fs::path(testing::TempDir()) / ("assay-commands-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "bin");
    // The program looks beside its own file, which a link of another kind would lead elsewhere.
    std::error_code other_disk;
    fs::create_hard_link(fs::path(bin_) / "assay", root_ / "bin/assay", other_disk);
    if (other_disk) fs::copy_file(fs::path(bin_) / "assay", root_ / "bin/assay");
    ::unsetenv("ASSAY_MODULE_PATH");
    ::unsetenv("ASSAY_CANNED");
  }
  void TearDown() override { fs::remove_all(root_); }

  void install_canned(const std::string& name) const {
    fs::create_symlink(canned::module_path(), root_ / ("bin/libassay-" + name + ".so"));
  }
  void install_host() const { fs::create_symlink(fs::path(bin_) / "libassay-host.so", root_ / "bin/libassay-host.so"); }

  [[nodiscard]] Ran run(const std::string& arguments, const std::string& environment = "") const {
    const auto errors = (root_ / "stderr").string();
    const auto line = environment + " '" + (root_ / "bin/assay").string() + "' " + arguments + " 2>'" + errors + "'";
    Ran ran;
    FILE* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> piece{};
    for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) ran.out.append(piece.data(), n);
    const int status = ::pclose(pipe);
    ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ran.err = *json::read_file(errors);
    return ran;
  }

  static std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

  std::string bin_;
  fs::path root_;
};

TEST_F(Commands, WithoutAGpuEnvironmentIsOneSentenceAndTwo) {
  install_host();
  for (const std::string backend : {"cuda", "hip"}) {
    const auto ran = run("environment --backend " + backend);
    EXPECT_EQ(ran.exit, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(lines(ran.err), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("libassay-" + backend + ".so"));
  }
  const auto ran = run("environment");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(lines(ran.err), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("--backend host"));
}

TEST_F(Commands, ADriverThatIsNotThereIsNamed) {
  install_canned("cuda");
  install_host();
  for (const char* words : {"environment", "environment --backend cuda", "environment --device cuda:0"}) {
    const auto ran = run(words, "ASSAY_CANNED=no-device");
    EXPECT_EQ(ran.exit, 2) << words;
    EXPECT_EQ(lines(ran.err), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("no driver is loaded"));
  }
}

TEST_F(Commands, TheHostIsShownWhenItIsNamed) {
  install_host();
  const auto ran = run("environment --backend host");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("platform"));
  EXPECT_THAT(ran.out, HasSubstr("Not applicable on this platform"));
  std::istringstream text(ran.out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(Commands, JsonOfAnEnvironmentIsAnIdentityThatReadsBack) {
  install_host();
  const auto ran = run("environment --device host:1 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto identity = json::read_identity(ran.out, "standard output");
  ASSERT_TRUE(identity) << identity.error().text;
  EXPECT_EQ(identity::text_value(*identity, "backend"), "host");
  EXPECT_EQ(identity->find("ecc")->state, FieldState::not_applicable);
  EXPECT_FALSE(identity->find("ecc")->reason.empty());
}

TEST_F(Commands, AGpuIsTheDefaultAndFindingsArePrinted) {
  install_canned("cuda");
  install_host();
  const auto ran = run("environment", "ASSAY_CANNED=h100 CUDA_LAUNCH_BLOCKING=1");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("cuda:0"));
  EXPECT_THAT(ran.out, HasSubstr("sm_90"));
  EXPECT_THAT(ran.out, HasSubstr("REFUSED: CUDA_LAUNCH_BLOCKING='1'"));
}

TEST_F(Commands, SeveralOfOneKindAreAmbiguousAndListed) {
  install_canned("cuda-12.4");
  install_canned("cuda-13.0");
  const auto ran = run("environment --backend cuda", "ASSAY_CANNED=h100");
  EXPECT_EQ(ran.exit, 64);
  EXPECT_THAT(ran.err, HasSubstr("cuda-12.4 and cuda-13.0"));
  const auto both = run("environment", "ASSAY_CANNED=h100");
  EXPECT_EQ(both.exit, 64);
  EXPECT_EQ(run("environment --backend cuda-13.0", "ASSAY_CANNED=h100").exit, 0);
}

TEST_F(Commands, AModuleOfAnotherVersionIsBadInput) {
  install_canned("cuda");
  const auto ran = run("environment --backend cuda", "ASSAY_CANNED=other-version");
  EXPECT_EQ(ran.exit, 65);
  EXPECT_EQ(lines(ran.err), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("version"));
}

TEST_F(Commands, BackendsListsWhatAnswersAndWhyTheRestDoesNot) {
  install_host();
  install_canned("cuda");
  const auto ran = run("backends", "ASSAY_CANNED=crash");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("host:0"));
  EXPECT_THAT(ran.out, HasSubstr("host:1"));
  // The reason is wrapped where the width ends.
  std::istringstream words(ran.out);
  std::string joined;
  for (std::string word; words >> word;) joined += word + " ";
  EXPECT_THAT(joined, HasSubstr("crashed while loading"));
  std::istringstream text(ran.out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(Commands, JsonOfBackends) {
  install_host();
  install_canned("cuda");
  const auto ran = run("backends --json", "ASSAY_CANNED=no-device");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto list = json::parse(ran.out, "standard output");
  ASSERT_TRUE(list) << list.error().text;
  const auto& modules = (*list)["modules"];
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules[0]["name"], "cuda");
  EXPECT_EQ(modules[0]["answers"], false);
  EXPECT_THAT(modules[0]["reason"].get<std::string>(), HasSubstr("no driver is loaded"));
  EXPECT_EQ(modules[1]["name"], "host");
  EXPECT_EQ(modules[1]["devices"].size(), 2U);
  EXPECT_EQ(modules[1]["devices"][0]["arch"].is_string(), true);
}

TEST_F(Commands, ThePathOfModulesComesFirstAndNoModuleAtAllIsTwo) {
  EXPECT_EQ(run("backends").exit, 2);
  const auto ran = run("backends --json", "ASSAY_CANNED=h100 ASSAY_MODULE_PATH='" +
                                              fs::path(canned::module_path()).parent_path().string() + "'");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"name\": \"canned\""));
}

TEST_F(Commands, AModuleCanBeNamedByItsPath) {
  EXPECT_EQ(run("environment --backend '" + canned::module_path() + "'", "ASSAY_CANNED=h100").exit, 0);
  EXPECT_EQ(run("environment --backend /nowhere/libassay-x.so").exit, 2);
}

TEST_F(Commands, RefusedLines) {
  install_host();
  for (const char* words : {"environment --backend host --device host:0", "environment --devices host",
                            "backends --jso", "environment --device host:", "environment extra"}) {
    const auto ran = run(words);
    EXPECT_EQ(ran.exit, 64) << words;
    EXPECT_EQ(lines(ran.err), 1) << ran.err;
  }
  EXPECT_EQ(run("environment --device host:9").exit, 2);
  EXPECT_EQ(run("environment --backend vulkan").exit, 2);
}

TEST_F(Commands, HelpHasExamplesAndHidesTheProbe) {
  EXPECT_THAT(run("environment --help").out, HasSubstr("assay environment --backend host"));
  EXPECT_THAT(run("backends --help").out, HasSubstr("assay backends --json"));
  EXPECT_THAT(run("--help").out, testing::Not(HasSubstr("__probe")));
}

}  // namespace
}  // namespace assay
