// SPDX-License-Identifier: Apache-2.0
// A document changed by hand so that it contradicts itself is refused, whichever of its statements was changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "results-schema/json/json.hpp"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Json example() {
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  const auto text =
      json::read_file(std::string(source != nullptr ? source : ".") + "/results-schema/v1/examples/run-ok.json");
  auto document = Json::parse(*text);
  // Counters and a sample that the rules can hold against their ledger and phase.
  auto& launch = document["devices"][0]["launches"][0];
  for (auto& phase : launch["phases"]) {
    Json reserved = phase["end"][0];
    for (const auto& term : phase["ledger_end"]["terms"])
      if (term["name"] == "reserved") reserved["quantity"]["value"] = term["first"]["value"];
    reserved["name"] = "reserved_bytes.all.current";
    phase["end"].push_back(reserved);
  }
  launch["samples"].push_back({{"name", "whole_cycle"},
                               {"unit", "ns"},
                               {"basis", "observed"},
                               {"values", {launch["phases"].back()["duration"]["value"].get<double>()}},
                               {"flags", Json::array()}});
  return document;
}

struct Change {
  const char* name;
  std::function<void(Json& document)> apply;
  const char* says;
};

class Contradiction : public ::testing::TestWithParam<Change> {};

TEST_P(Contradiction, IsRefused) {
  auto document = example();
  const auto good = json::read_document(document.dump(), "d.json");
  ASSERT_TRUE(good) << good.error().text;
  EXPECT_TRUE(json::check_consistency(*good, "d.json"));
  GetParam().apply(document);
  const auto changed = json::read_document(document.dump(), "d.json");
  ASSERT_TRUE(changed) << changed.error().text;
  const auto read = json::check_consistency(*changed, "d.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_THAT(read.error().text, HasSubstr(GetParam().says));
}

Json& launch_of(Json& document) {
  return document["devices"][0]["launches"][0];
}

INSTANTIATE_TEST_SUITE_P(
    Changes, Contradiction,
    ::testing::Values(
        Change{"platform", [](Json& d) { d["devices"][0]["identity"]["fields"]["platform"]["value"] = "nvidia"; },
               "backend host on platform nvidia"},
        Change{"outcome", [](Json& d) { launch_of(d)["outcome"] = "failed"; }, "status"},
        Change{"launches", [](Json& d) { d["plan"]["launches"] = 3; }, "status"},
        Change{"reserved_below_allocated",
               [](Json& d) { launch_of(d)["phases"].back()["end"].back()["quantity"]["value"] = 1; }, "less than"},
        Change{"reserved_beside_its_ledger",
               [](Json& d) { launch_of(d)["phases"].back()["end"].back()["quantity"]["value"] = 99'000'000; },
               "by its ledger"},
        Change{"first_reading",
               [](Json& d) {
                 auto& term = launch_of(d)["phases"].back()["ledger_end"]["terms"][0];
                 term["first"]["value"] = term["first"]["value"].get<std::int64_t>() + 4096;
               },
               "device_used"},
        Change{"second_reading",
               [](Json& d) {
                 auto& term = launch_of(d)["phases"].back()["ledger_end"]["terms"][0];
                 term["second"]["value"] = term["second"]["value"].get<std::int64_t>() + 4096;
               },
               "two readings of device_used"},
        Change{"equation",
               [](Json& d) {
                 auto& equation = launch_of(d)["phases"].back()["ledger_end"]["equations"][0];
                 for (const char* side : {"left", "right"})
                   equation[side]["value"] = equation[side]["value"].get<std::int64_t>() + 4096;
               },
               "left side is not its term"},
        Change{"removed_phase", [](Json& d) { launch_of(d)["phases"].erase(5); }, "0 phases warm_forward"},
        Change{"repeated_phase",
               [](Json& d) {
                 auto& phases = launch_of(d)["phases"];
                 phases.push_back(phases.back());
               },
               "out of order or twice"},
        Change{"plan_repeats", [](Json& d) { d["plan"]["workloads"][0]["repeats"] = 2; }, "where its plan makes 2"},
        Change{"plan_batch", [](Json& d) { d["plan"]["workloads"][0]["batch"] = 8; }, "the plan has 8"},
        Change{"sample", [](Json& d) { launch_of(d)["samples"].back()["values"][0] = 1.0; },
               "not the duration of its phase"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Contradictory, DocumentsAreValidByTheSchemaAndRefused) {
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source) / "results-schema/v1/contradictory")) {
    const auto document = json::read_document(*json::read_file(entry.path()), "d.json");
    ASSERT_TRUE(document) << document.error().text;
    const auto agrees = json::check_consistency(*document, "d.json");
    ASSERT_FALSE(agrees) << entry.path();
    EXPECT_THAT(agrees.error().text, HasSubstr("contradicts itself"));
    ++count;
  }
  EXPECT_GE(count, 3);
}

TEST(Contradictory, NoPublishedExampleIs) {
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source) / "results-schema/v1/examples")) {
    if (entry.path().filename().string().starts_with("invalid-")) continue;
    const auto document = json::read_document(*json::read_file(entry.path()), "d.json");
    if (!document) continue;  // another kind
    const auto agrees = json::check_consistency(*document, "d.json");
    EXPECT_TRUE(agrees) << entry.path() << ": " << agrees.error().text;
  }
}

}  // namespace
}  // namespace assay
