// SPDX-License-Identifier: Apache-2.0
// What goes wrong inside the kernel checks is recorded, named and reported as it is in a launch, and said once.
#include <nlohmann/json.hpp>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

struct Trouble {
  const char* name;
  const char* fault;  // hits the child that checks: nothing before it launches a kernel or copies
  const char* code;
  int exit;
};

class CheckTrouble : public Program, public ::testing::WithParamInterface<Trouble> {};

TEST_P(CheckTrouble, IsNamedAndSaidOnce) {
  const auto& trouble = GetParam();
  // AddressSanitizer would turn a signal into an exit.
  const auto ran = run("measure --module '" + faulty_.string() +
                           "' --workload dense --batch 2 --context 8 --width 32 --depth 2 --time-limit 3 -o out.json",
                       std::string("ASAN_OPTIONS=handle_segv=0:handle_abort=0 ASSAY_FAULT=") + trouble.fault);
  EXPECT_EQ(ran.exit, trouble.exit) << ran.err << ran.out;
  EXPECT_EQ(run("validate out.json").exit, 0);
  const auto document = Json::parse(text_of(root_ / "out.json"));
  EXPECT_EQ(document.at("status"), "failed");
  std::vector<Json> failed;
  for (const auto& checked : document.at("devices").at(0).at("cases"))
    if (checked.at("status") != "ok") failed.push_back(checked);
  ASSERT_EQ(failed.size(), 1U) << document.at("devices").at(0).at("cases").dump(1);
  EXPECT_EQ(failed[0].at("code"), trouble.code);
  // Once for the checks, once for the launch that was not made.
  ASSERT_EQ(document.at("failures").size(), 2U);
  EXPECT_EQ(document.at("failures").at(0).at("code"), trouble.code);
  EXPECT_EQ(document.at("failures").at(1).at("code"), "not_run");
  EXPECT_TRUE(document.at("devices").at(0).at("launches").empty());
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(files(), std::vector<std::string>{"out.json"});
}

INSTANTIATE_TEST_SUITE_P(Kinds, CheckTrouble,
                         ::testing::Values(Trouble{"hang", "launch:3:hang", "hung", 7},
                                           Trouble{"hang_first", "launch:1:hang", "hung", 7},
                                           Trouble{"fault", "launch:3:kernel_fault", "fault", 6},
                                           Trouble{"lost", "copy:5:device_lost", "fault", 6},
                                           Trouble{"memory", "malloc:3+:out_of_memory", "out_of_memory", 6},
                                           Trouble{"memory_first", "malloc:1+:out_of_memory", "out_of_memory", 6},
                                           Trouble{"maps", "malloc:2:map_limit", "map_limit", 6},
                                           Trouble{"crash", "launch:4:crash", "crashed", 6},
                                           Trouble{"abort", "launch:4:abort", "crashed", 6},
                                           Trouble{"defect", "copy:4:internal", "internal", 6}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(Program, ChecksThatAreStoppedKeepThoseBefore) {
  const auto ran = run("measure --module '" + faulty_.string() +
                           "' --workload dense --batch 2 --context 8 --width 32 --depth 2 --time-limit 3 -o out.json",
                       "ASSAY_FAULT=launch:9:hang");
  EXPECT_EQ(ran.exit, 7) << ran.err;
  const auto document = Json::parse(text_of(root_ / "out.json"));
  const auto& cases = document.at("devices").at(0).at("cases");
  ASSERT_EQ(cases.size(), 9U);  // eight right ones, and why there is no more
  EXPECT_EQ(cases.at(7).at("status"), "ok");
  EXPECT_THAT(cases.at(8).at("message").get<std::string>(), HasSubstr("after 8 of them"));
}

}  // namespace
}  // namespace assay::testing_cli
