// SPDX-License-Identifier: Apache-2.0
// Small limits, closed streams and folders that cannot be written: the right cause, or no difference at all.
#include <nlohmann/json.hpp>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Limits : public Program {
 protected:
  const std::string small_ =
      "measure --backend host --workload dense --batch 2 --context 8 --width 32 --depth 2 -o o.json";
};

// Below eight the loader cannot open the program's libraries, and says so itself.
TEST_F(Limits, TooFewOpenFilesAreNamed) {
  for (const int most : {8, 9, 10, 11, 16, 31}) {
    // The shell that sets the limit has its streams already: opening them would meet the limit too.
    const auto ran = run(small_, "sh -c 'ulimit -n " + std::to_string(most) + "; exec \"$0\" \"$@\"'");
    EXPECT_EQ(ran.exit, 70) << most << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("open files")) << most;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(files(), IsEmpty());
  }
  const auto enough = run(small_, "ulimit -n 32;");
  EXPECT_EQ(enough.exit, 0) << enough.err;
}

TEST_F(Limits, ASmallStackIsNamed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own start needs more stack";
#endif
  for (const int kib : {64, 128, 256}) {
    const auto ran = run(small_, "ulimit -s " + std::to_string(kib) + ";");
    EXPECT_EQ(ran.exit, 70) << kib << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("stack")) << kib;
  }
  EXPECT_EQ(run(small_, "ulimit -s 512;").exit, 0);
}

TEST_F(Limits, ASmallAddressSpaceEndsInASentenceOrAResult) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself maps terabytes";
#endif
  // Below what its libraries take the loader ends the program; above, whatever is refused is said.
  for (const int mib : {60, 80, 120, 200, 400, 1000}) {
    const auto ran = run(small_, "ulimit -v " + std::to_string(mib * 1024) + ";");
    EXPECT_TRUE(ran.exit == 0 || ran.exit == 2 || ran.exit == 6 || ran.exit == 70 || ran.exit == 127)
        << mib << " MiB: exit " << ran.exit << ": " << ran.err;
    if (ran.exit != 0) {
      EXPECT_NE(ran.err, "") << mib;
    }
    if (fs::exists(root_ / "o.json")) {
      EXPECT_EQ(run("validate o.json").exit, 0) << mib;
    }
    fs::remove(root_ / "o.json");
  }
}

TEST_F(Limits, ClosedStreamsChangeNothingThatIsWritten) {
  const auto with = [](const std::string& closed) { return "sh -c 'exec \"$0\" \"$@\" " + closed + "'"; };
  for (const char* closed : {"<&-", "2>&-", "<&- 2>&-"}) {
    EXPECT_EQ(run("--version", with(closed)).exit, 0) << closed;
    EXPECT_EQ(run(small_, with(closed)).exit, 0) << closed;
    EXPECT_EQ(run("validate o.json").exit, 0) << closed;
    EXPECT_THAT(files(), ElementsAre("o.json"));
    fs::remove(root_ / "o.json");
  }
  // The summary cannot be printed: that is no success, and the document is whole.
  for (const char* closed : {">&-", "<&- >&- 2>&-"}) {
    EXPECT_EQ(run("--version", with(closed)).exit, 73) << closed;
    EXPECT_EQ(run(small_, with(closed)).exit, 73) << closed;
    EXPECT_EQ(run("validate o.json").exit, 0) << closed;
    EXPECT_EQ(Json::parse(text_of(root_ / "o.json")).at("status"), "ok");
    fs::remove(root_ / "o.json");
  }
}

TEST_F(Limits, NoHomeAndNoTemporaryFolderAreNeeded) {
  const auto ran = run(small_, "HOME=/nonexistent TMPDIR=/nonexistent XDG_CACHE_HOME=/proc");
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

}  // namespace
}  // namespace assay::testing_cli
