// SPDX-License-Identifier: Apache-2.0
// assay report --html: what is written, what is refused, and that a result is never replaced.
#include <algorithm>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Html : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    const fs::path examples = fs::path(std::getenv("ASSAY_SOURCE_DIR")) / "results-schema" / "v1" / "examples";
    fs::copy_file(examples / "run-ok.json", root_ / "run.json");
    // The examples share one run id, which no two documents of a page may.
    auto estimate = text_of(examples / "estimate-reserved.json");
    const std::string id = "example-0001";
    const auto at = estimate.find(id);
    ASSERT_NE(at, std::string::npos);
    std::ofstream(root_ / "estimate.json") << estimate.replace(at, id.size(), "example-0002");
  }
  void refused(const std::string& arguments, int exit, const std::string& word) const {
    const auto before = files();
    const auto ran = run(arguments);
    EXPECT_EQ(ran.exit, exit) << arguments << '\n' << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_EQ(files(), before);
  }
  [[nodiscard]] std::string changed(const std::string& from, const std::string& to) const {
    auto text = text_of(root_ / "run.json");
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return text;
  }
};

TEST_F(Html, OnePageOfSeveralKinds) {
  const auto ran = run("report run.json estimate.json --html page.html");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  const auto page = text_of(root_ / "page.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("\"file\":\"estimate.json\""));
  EXPECT_THAT(page, Not(HasSubstr("{{data}}")));
  EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_F(Html, TextOfADocumentCannotEndItsElement) {
  std::ofstream(root_ / "hostile.json") << changed("\"argv\": [", "\"argv\": [\"</script><!--<script>&\\u202e\", ");
  ASSERT_EQ(run("report hostile.json --html hostile.html").exit, 0);
  ASSERT_EQ(run("report run.json --html plain.html").exit, 0);
  const auto marks = [&](const char* name) {
    const auto page = text_of(root_ / name);
    return std::count(page.begin(), page.end(), '<');
  };
  EXPECT_EQ(marks("hostile.html"), marks("plain.html"));
  EXPECT_THAT(text_of(root_ / "hostile.html"), HasSubstr("\\u003c/script\\u003e\\u003c!--"));
}

TEST_F(Html, AnExistingFileIsReplacedOnlyWithForceAndAResultNever) {
  ASSERT_EQ(run("report run.json --html page.html").exit, 0);
  const auto first = text_of(root_ / "page.html");
  refused("report run.json --html page.html", 73, "--force");
  ASSERT_EQ(run("report run.json estimate.json --html page.html --force").exit, 0);
  EXPECT_NE(text_of(root_ / "page.html"), first);
  const auto result = text_of(root_ / "run.json");
  refused("report estimate.json --html run.json --force", 73, "never overwritten");
  refused("report run.json --html run.json --force", 73, "never overwritten");
  EXPECT_EQ(text_of(root_ / "run.json"), result);
  refused("report run.json --html . --force", 73, "");
  refused("report run.json --html missing/page.html", 73, "missing");
  refused("report run.json --html /dev/null --force", 73, "regular");
}

TEST_F(Html, BadInput) {
  fs::copy_file(root_ / "run.json", root_ / "copy.json");
  refused("report run.json copy.json --html page.html", 65, "the same run");
  std::ofstream(root_ / "nan.json") << changed("1200000000", "NaN");
  std::ofstream(root_ / "newer.json") << R"({"schema":"assay","schema_version":"99.0.0","kind":"run"})";
  std::ofstream(root_ / "foreign.json") << R"({"benchmarks":[]})";
  std::ofstream(root_ / "twice.json") << R"({"schema":"assay","schema":"assay"})";
  for (const char* name : {"nan.json", "newer.json", "foreign.json", "twice.json", "absent.json"})
    refused(std::string("report run.json ") + name + " --html page.html", 65, name);
  refused("report run.json estimate.json", 64, "--html");
  refused("report run.json --force", 64, "");
  refused("report run.json --card --html page.html", 64, "");
}

}  // namespace
}  // namespace assay::testing_cli
