// SPDX-License-Identifier: Apache-2.0
// What other tools let pass, shown to the whole comparison: the ways in which one thing has stood in for another, as a
// table of case, expected and given answer and exit code. The table is printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "suite/report/comparison.hpp"
#include "tests/support/canned.hpp"
#include "tests/support/series_of_launches.hpp"

namespace assay::test {
namespace {

using canned::identity_of;
using testing::HasSubstr;

RunDocument on(const Identity& identity, const char* id, double level = 1000, std::size_t cases = 2,
               std::size_t launches = 7) {
  const bool first = std::string_view(id) == "a";
  return run_document(identity, {id, cases, launches, 3, first ? 0U : 1U, 2}, steady(level, first ? 1 : 2));
}

struct Given {
  std::string answer;
  std::int64_t exit = 0;
};

Given given(const Result<Comparison>& comparison) {
  if (!comparison) return {"no series", comparison.error().code == ErrorCode::not_comparable ? 3 : 65};
  return {std::string(report::to_text(comparison->identity.relation)), comparison->exit_code};
}

Given pair(const char* a, const char* b) {
  return given(compared(on(identity_of(a), "a"), on(identity_of(b), "b")));
}

Identity with(Identity identity, const std::string& key, const FieldValue& value) {
  for (auto& field : identity.fields)
    if (field.key == key) {
      field.state = FieldState::value;
      field.value = value;
    }
  return identity;
}

struct Row {
  const char* name;
  Given expected;
  std::function<Given()> make;
};

Given mixed_baseline() {
  const std::vector<compare::Source> a{{"cuda0.json", on(identity_of("h100"), "a")},
                                       {"cuda1.json", on(identity_of("h100-mig"), "c")}};
  const std::vector<compare::Source> b{{"new.json", on(identity_of("h100"), "b")}};
  return given(compare::compare_sources(a, b, {}));
}

Given across() {
  compare::Options options;
  options.across = true;
  const auto comparison = compared(on(identity_of("h100"), "a"), on(identity_of("mi300x"), "b", 1500), options);
  if (!comparison) return {comparison.error().text, -1};
  const auto text = report::comparison_text(*comparison, false);
  const bool both = text.find("cuda sm_90") != text.npos && text.find("hip gfx942") != text.npos;
  const bool no_verdict = comparison->counts.not_judged == 2 && comparison->counts.regressed == 0;
  return {both && no_verdict ? "table without verdicts" : text, comparison->exit_code};
}

Given one_side_only() {
  const auto comparison = compared(on(identity_of("h100"), "a", 1000, 2), on(identity_of("h100"), "b", 1000, 3));
  return {comparison && comparison->unmatched.size() == 1 && comparison->counts.same == 2 ? "listed" : "not listed",
          comparison ? comparison->exit_code : -1};
}

Given other_program() {
  auto changed = identity_of("h100");
  changed = with(changed, "suite_commit", std::string("another commit"));
  const auto comparison = compared(on(identity_of("h100"), "a"), on(changed, "b"));
  return given(comparison);
}

TEST(Table, WhatMustNotPassForAnother) {
  const std::vector<Row> rows{
      {"1 HIP on NVIDIA against CUDA", {"different thing", 3}, [] { return pair("h100", "h100-by-hip"); }},
      {"1 HIP on NVIDIA against HIP on AMD", {"different thing", 3}, [] { return pair("mi250x", "h100-by-hip"); }},
      {"2 overridden architecture",
       {"invalid", 3},
       [] { return pair("strix-halo-overridden", "strix-halo-overridden"); }},
      {"3 compute capability 9.0 twice", {"different thing", 3}, [] { return pair("h100", "mi250x"); }},
      {"4 an AMD board called cuda", {"invalid", 3}, [] { return pair("h100", "mi250x-called-cuda"); }},
      {"5 an emulator under an AMD name", {"invalid", 3}, [] { return pair("mi250x", "hip-on-cpu"); }},
      {"6 headers that imitate CUDA", {"invalid", 3}, [] { return pair("mi250x", "mi250x-imitating-cuda"); }},
      {"7 a CPX slice against the board", {"different thing", 3}, [] { return pair("mi300x", "mi300x-cpx-slice"); }},
      {"7 a MIG slice against the board", {"different thing", 3}, [] { return pair("h100", "h100-mig"); }},
      {"8 a mixture of releases", {"change only", 0}, [] { return pair("mi250x", "mi250x-mixture"); }},
      {"R1 256 slower cases",
       {"same", 1},
       [] {
         return given(compared(on(identity_of("h100"), "a", 1000, 256, 8), on(identity_of("h100"), "b", 1500, 256, 8)));
       }},
      {"R1 four cases twice as fast",
       {"same", 0},
       [] { return given(compared(on(identity_of("h100"), "a", 1000, 4), on(identity_of("h100"), "b", 500, 4))); }},
      {"R1 another program on the same board", {"change only", 0}, other_program},
      {"R2 a speed-up without clock readings",
       {"same", 0},
       [] { return given(compared(on(identity_of("h100"), "a"), on(identity_of("h100"), "b", 500))); }},
      {"R3 CUDA on one vendor, HIP on another", {"different thing", 3}, [] { return pair("h100", "mi300x"); }},
      {"R3 a case of one side only", {"listed", 0}, one_side_only},
      {"R4 one device name, two boards", {"different thing", 3}, [] { return pair("h100", "h100-mig"); }},
      {"R5 a baseline of two kinds of board", {"no series", 3}, mixed_baseline},
      {"R6 one host name and memory, two boards",
       {"different thing", 3},
       [] {
         return given(compared(on(identity_of("h100"), "a"),
                               on(with(identity_of("h100"), "pci_device_id", std::string("0x20b5")), "b")));
       }},
      {"R7 CUDA against HIP", {"different thing", 3}, [] { return pair("h100", "mi300x"); }},
      {"R7 the same, across", {"table without verdicts", 0}, across},
  };
  std::printf("%-42s %-24s %-24s %s\n", "case", "expected", "given", "exit");
  for (const auto& row : rows) {
    const auto answer = row.make();
    std::printf("%-42s %-24s %-24s %ld\n", row.name, row.expected.answer.c_str(), answer.answer.c_str(),
                static_cast<long>(answer.exit));
    EXPECT_EQ(answer.answer, row.expected.answer) << row.name;
    EXPECT_EQ(answer.exit, row.expected.exit) << row.name;
  }
}

TEST(Table, EveryDifferingFieldIsListedWithBothValues) {
  const auto comparison = compared(on(identity_of("h100"), "a"), on(identity_of("mi300x"), "b"));
  ASSERT_TRUE(comparison);
  ASSERT_EQ(comparison->identity.pairs.size(), 1U);
  const auto text = report::comparison_text(*comparison, false);
  for (const auto& field : comparison->identity.pairs.front().fields) {
    if (field.tier == Tier::info) continue;
    EXPECT_THAT(text, HasSubstr(field.key));
  }
  EXPECT_THAT(text, HasSubstr("sm_90"));
  EXPECT_THAT(text, HasSubstr("gfx942"));
  EXPECT_THAT(text, HasSubstr("Not comparable"));
}

TEST(Table, AnUnknownThingEqualsNothing) {
  int tried = 0;
  for (const auto& rule : kFieldRules) {
    if (rule.scope != Scope::everything || rule.tier_on(Platform::nvidia) != Tier::thing ||
        !rule.applies_to(Platform::nvidia) || rule.key == "platform")
      continue;
    auto identity = identity_of("h100");
    for (auto& field : identity.fields)
      if (field.key == rule.key) {
        field.state = FieldState::unknown;
        field.reason = "not readable";
      }
    const auto comparison = compared(on(identity, "a"), on(identity, "b"));
    ASSERT_TRUE(comparison) << rule.key;
    EXPECT_EQ(comparison->exit_code, 3) << rule.key;
    ++tried;
  }
  EXPECT_GE(tried, 20);
}

}  // namespace
}  // namespace assay::test
