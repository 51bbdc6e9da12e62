// SPDX-License-Identifier: Apache-2.0
// assay compare as a user runs it: exit codes, forms, documents, and input of every bad kind.
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/golden/cli_support.hpp"
#include "tests/support/series_of_launches.hpp"

namespace assay::testing_cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CompareCommand : public Program {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  // A launch that is ok has run every phase of its workload, which the program checks.
  static void add_phases(const Workload& work, Launch& launch) {
    const auto phase = [&launch](const char* name, std::int64_t repeat) {
      Phase made;
      made.name = name;
      made.repeat = repeat;
      made.duration = {std::int64_t{1000}, "ns", Basis::observed, {}};
      launch.phases.push_back(std::move(made));
    };
    for (const char* name : {"environment", "model_load", "inputs", "cold_forward"}) phase(name, 0);
    for (std::int64_t i = 0; i < work.warmups; ++i) phase("warmup", i);
    for (std::int64_t i = 0; i < work.repeats; ++i) phase("warm_forward", i);
    phase("whole_cycle", 0);
  }
  // A series of seven launches at this level; side "a" or "b" decides ids and times.
  [[nodiscard]] std::string document(const std::string& id, double level, std::size_t launches = 7) const {
    test::Side side{id, 3, launches, 3, id[0] == 'a' ? 0U : 1U, 2};
    auto made = test::run_document(test::simulated_board(), side, test::steady(level, static_cast<std::size_t>(id[0])));
    for (auto& launch : made.devices[0].launches) add_phases(made.plan.workloads[0], launch);
    const auto text = json::write_document(made);
    EXPECT_TRUE(text) << text.error().text;
    return text ? *text : "";
  }
  void SetUp() override {
    Program::SetUp();
    write("a.json", document("a", 1000));
    write("same.json", document("b", 1001));
    write("slow.json", document("b", 1200));
  }
  // One sentence on standard error, nothing on standard output, no new file.
  void refused(const std::string& arguments, int exit, const std::string& word) const {
    const auto before = files();
    const auto ran = run(arguments);
    EXPECT_EQ(ran.exit, exit) << arguments << "\n" << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(word)) << arguments;
    EXPECT_EQ(files(), before) << arguments;
  }
};

TEST_F(CompareCommand, ExitCodes) {
  EXPECT_EQ(run("compare same.json --baseline a.json").exit, 0);
  EXPECT_EQ(run("compare slow.json --baseline a.json").exit, 1);
  EXPECT_EQ(run("compare a.json --baseline slow.json").exit, 0);
  write("one.json", document("b", 1200, 1));
  EXPECT_EQ(run("compare one.json --baseline a.json").exit, 4);
  EXPECT_EQ(run("compare slow.json --baseline a.json --margin 30").exit, 0);
}

TEST_F(CompareCommand, ADifferentThingExitsWithThreeAndListsItsFields) {
  auto other = document("b", 1000);
  const std::string was = "\"value\":\"sm_90\"";
  other.replace(other.find(was), was.size(), "\"value\":\"sm_80\"");
  write("other.json", other);
  const auto ran = run("compare other.json --baseline a.json");
  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.out, HasSubstr("different thing"));
  EXPECT_THAT(ran.out, HasSubstr("sm_80"));
  const auto across = run("compare other.json --baseline a.json --across");
  EXPECT_EQ(across.exit, 0);
  EXPECT_THAT(across.out, HasSubstr("not judged"));
  EXPECT_THAT(across.out, Not(HasSubstr("regressed")));
}

TEST_F(CompareCommand, JsonHasTheKeysOthersRelyOn) {
  const auto ran = run("compare slow.json --baseline a.json --json");
  EXPECT_EQ(ran.exit, 1);
  const auto value = nlohmann::json::parse(ran.out);
  EXPECT_EQ(value["identity"]["relation"], "same");
  ASSERT_EQ(value["cases"].size(), 3U);
  EXPECT_EQ(value["cases"][0]["verdict"], "regressed");
  EXPECT_NEAR(value["cases"][0]["ratio"].get<double>(), 1.2, 0.01);
  EXPECT_EQ(value["cases"][0]["interval"].size(), 2U);
  EXPECT_TRUE(value["unmatched"].is_array());
}

TEST_F(CompareCommand, TheDocumentIsValidAndGivesEveryForm) {
  EXPECT_EQ(run("compare slow.json --baseline a.json --output verdict.json").exit, 1);
  const auto valid = run("validate verdict.json");
  EXPECT_EQ(valid.exit, 0) << valid.err;
  for (const char* format : {"table", "markdown", "junit", "csv"}) {
    const auto again = run(std::string("report verdict.json --format ") + format);
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(again.out, run(std::string("compare slow.json --baseline a.json --format ") + format).out) << format;
    EXPECT_THAT(again.out, HasSubstr("_000"));
  }
  refused("compare slow.json --baseline a.json --output verdict.json", 73, "exists");
  refused("report verdict.json --card", 64, "card");
  refused("report a.json --format junit", 64, "--format");
}

TEST_F(CompareCommand, JUnitCountsAreThoseOfItsCases) {
  const auto xml = run("compare slow.json --baseline a.json --format junit").out;
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"3\" errors=\"0\" skipped=\"0\""));
  const auto count = [&](const std::string& word) {
    std::size_t n = 0;
    for (auto at = xml.find(word); at != xml.npos; at = xml.find(word, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<testcase"), 6U);
  EXPECT_EQ(count("<failure"), 3U);
}

TEST_F(CompareCommand, TablesFitTheScreen) {
  std::istringstream lines(run("compare slow.json --baseline a.json").out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(CompareCommand, RedactionTakesTheHouseOut) {
  auto named = document("b", 1200);
  for (auto at = named.find("\"host_name\""); at != named.npos; at = named.npos)
    if (const auto value = named.find("\"x\"", at); value != named.npos) named.replace(value, 3, "\"secret-host\"");
  write("named.json", named);
  EXPECT_EQ(run("compare named.json --baseline a.json --redact --output public.json").exit, 1);
  EXPECT_THAT(text_of(root_ / "public.json"), Not(HasSubstr("secret-host")));
  EXPECT_EQ(run("compare named.json --baseline a.json --output private.json").exit, 1);
  EXPECT_THAT(text_of(root_ / "private.json"), HasSubstr("secret-host"));
}

TEST_F(CompareCommand, BaselineFilesAcceptWithReasonAndDate) {
  write("baselines.json", R"({"baselines": {"main": {"documents": ["a.json"], "accepted": [{"case": "*", "reason":
    "known", "until": "9999-12-31"}]}, "old": {"documents": ["a.json"], "accepted": [{"case": "*", "reason": "known",
    "until": "2020-01-01"}]}}})");
  EXPECT_EQ(run("compare slow.json --baseline-file baselines.json --name main").exit, 0);
  const auto expired = run("compare slow.json --baseline-file baselines.json --name old");
  EXPECT_EQ(expired.exit, 1);
  EXPECT_THAT(expired.out, HasSubstr("ended on 2020-01-01"));
  refused("compare slow.json --baseline-file baselines.json", 64, "--name");
  write("bad.json", R"({"baselines": {"main": {"accepted": [{"case": "*", "until": "2020-01-01"}]}}})");
  refused("compare slow.json --baseline a.json --baseline-file bad.json", 65, "reason");
  write("bad.json", R"({"baselines": {"main": {"accept": []}}})");
  refused("compare slow.json --baseline a.json --baseline-file bad.json", 65, "unknown key");
}

TEST_F(CompareCommand, BadInput) {
  auto newer = document("b", 1000);
  const std::string version = kSchemaVersion;
  newer.replace(newer.find('"' + version + '"') + 1, version.size(), "2.0.0");
  write("newer.json", newer);
  write("broken.json", document("b", 1000).substr(0, 5000));
  write("foreign.json", R"({"benchmarks": [{"name": "x", "real_time": 1}]})");
  auto nan = document("b", 1000);
  const auto at = nan.find("\"values\":[");
  nan.replace(nan.find_first_of("0123456789", at), 4, "NaN,");
  write("nan.json", nan);
  auto twice = document("b", 1000);
  twice.insert(twice.find("\"kind\""), "\"schema\": \"assay\", ");
  write("twice.json", twice);
  auto edited = nlohmann::ordered_json::parse(document("b", 1000));
  edited["status"] = "partial";
  edited["failures"] = nlohmann::ordered_json::parse(
      R"([{"device": "", "launch_order": -1, "phase": "", "code": "internal", "message": "x"}])");
  write("edited.json", edited.dump());
  for (const auto& [file, word] : {std::pair{"newer.json", "newer assay"},
                                   {"broken.json", "line"},
                                   {"foreign.json", "not an Assay document"},
                                   {"nan.json", "NaN"},
                                   {"twice.json", "twice"},
                                   {"edited.json", "contradicts itself"},
                                   {"missing.json", "cannot read"}}) {
    refused(std::string("compare ") + file + " --baseline a.json --output out.json", 65, word);
    refused(std::string("compare same.json --output out.json --baseline ") + file, 65, word);
  }
  refused("compare a.json --baseline a.json --output out.json", 65, "give each launch once");
  refused("compare same.json same.json --baseline a.json", 65, "give each launch once");
}

TEST_F(CompareCommand, TwoGibibytesOfOneLineAreRefusedUnread) {
  write("huge.json", "[");
  fs::resize_file(root_ / "huge.json", std::uintmax_t{2} << 30);  // sparse
  const auto begin = std::chrono::steady_clock::now();
  refused("compare huge.json --baseline a.json", 65, "larger than");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(CompareCommand, WrongUsage) {
  refused("compare", 64, "--baseline");
  refused("compare a.json", 64, "--baseline");
  refused("compare same.json --baseline a.json --margin 0", 64, "--margin");
  refused("compare same.json --baseline a.json --margin nan", 64, "--margin");
  refused("compare same.json --baseline a.json --alpha 1", 64, "--alpha");
  refused("compare same.json --baseline a.json --alpha -1", 64, "--alpha");
  refused("compare same.json --baseline a.json --format poem", 64, "poem");
  refused("compare --self-test a.json", 64, "--self-test");
}

// Every document a duel leaves is one that the other commands accept.
TEST_F(CompareCommand, ADuelOfAModuleWithItself) {
  const auto ran =
      run("duel --a host --b host --workload dense --width 64 --depth 1 --batch 1 --context 8 --launches 2 --output d");
  EXPECT_EQ(ran.exit, 4) << ran.err;  // two launches decide nothing
  EXPECT_THAT(ran.out, HasSubstr("device_copy"));
  for (const char* file : {"d-a.json", "d-b.json", "d-compare.json"}) {
    const auto valid = run(std::string("validate ") + file);
    EXPECT_EQ(valid.exit, 0) << valid.err;
  }
  EXPECT_FALSE(fs::exists(root_ / "d-both.json"));
  EXPECT_EQ(run("compare d-b.json --baseline d-a.json").exit, 4);
  refused("duel --a host --b host --output d", 73, "exists");
}

TEST_F(CompareCommand, Exports) {
  const auto trace = nlohmann::json::parse(run("export a.json --format chrome-trace").out);
  std::size_t complete = 0;
  for (const auto& event : trace["traceEvents"]) {
    ASSERT_TRUE(event["name"].is_string() && event["ph"].is_string() && event["ts"].is_number());
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer());
    if (event["ph"] == "X") {
      ++complete;
      ASSERT_GE(event["dur"].get<double>(), 0);
    }
    if (event["ph"] == "C") {
      for (const auto& value : event["args"]) ASSERT_TRUE(value.is_number());
    }
  }
  std::size_t phases = 0;
  const auto exported = nlohmann::json::parse(text_of(root_ / "a.json"));
  for (const auto& launch : exported["devices"][0]["launches"]) phases += launch["phases"].size();
  EXPECT_EQ(complete, phases);
  EXPECT_GT(phases, 7U);
  const auto metrics = run("export a.json --format openmetrics").out;
  EXPECT_THAT(metrics,
              HasSubstr("# TYPE assay_case_duration_seconds gauge\n# UNIT assay_case_duration_seconds seconds"));
  EXPECT_TRUE(metrics.ends_with("# EOF\n"));
  const auto bench = nlohmann::json::parse(run("export a.json --format google-benchmark").out);
  EXPECT_EQ(bench["benchmarks"].size(), 21U);
  EXPECT_EQ(bench["benchmarks"][0]["time_unit"], "ns");
  EXPECT_EQ(run("export a.json --format openmetrics --output m.prom").exit, 0);
  refused("export a.json --format openmetrics --output m.prom", 73, "exists");
  EXPECT_EQ(run("export a.json --format openmetrics --output m.prom --force").exit, 0);
  EXPECT_EQ(text_of(root_ / "m.prom"), metrics);
  EXPECT_EQ(run("export a.json --format document --redact --output public.json").exit, 0);
  EXPECT_EQ(run("validate public.json").exit, 0);
}

}  // namespace
}  // namespace assay::testing_cli
