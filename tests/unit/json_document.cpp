// SPDX-License-Identifier: Apache-2.0
// Documents, plans, identities and journal lines: what is written is read back the same; versions; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "results-schema/json/json.hpp"
#include "tests/unit/json_generator.hpp"

namespace assay::json {
namespace {

using test::Generator;
using ::testing::HasSubstr;

constexpr int kDocuments = 120;

TEST(JsonDocument, AnyDocumentComesBackTheSame) {
  for (int seed = 0; seed < kDocuments; ++seed) {
    const RunDocument document = Generator(static_cast<std::uint64_t>(seed)).document();
    const auto text = write_document(document);
    ASSERT_TRUE(text) << "seed " << seed << ": " << text.error().text;
    EXPECT_TRUE(text->ends_with("}\n"));
    const auto back = read_document(*text, "text");
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().text;
    EXPECT_TRUE(*back == document) << "seed " << seed;
    const auto kind = validate(*text, "text");
    ASSERT_TRUE(kind);
    EXPECT_EQ(*kind, document.kind);
    EXPECT_EQ(*write_document(*back), *text) << "seed " << seed;
  }
}

TEST(JsonDocument, PlansAndIdentitiesComeBackTheSame) {
  for (std::uint64_t seed = 0; seed < kDocuments; ++seed) {
    Generator generator(seed);
    const Plan plan = generator.plan();
    const auto plan_back = read_plan(write_plan(plan), "plan");
    ASSERT_TRUE(plan_back) << plan_back.error().text;
    EXPECT_TRUE(*plan_back == plan);
    const Identity identity = generator.identity();
    const auto identity_back = read_identity(write_identity(identity), "identity");
    ASSERT_TRUE(identity_back) << identity_back.error().text;
    EXPECT_TRUE(*identity_back == identity);
  }
}

TEST(JsonDocument, TopLevelKeysStandInOrder) {
  const auto value = parse(*write_document(Generator(1).document()), "text");
  std::vector<std::string> keys;
  for (const auto& [key, member] : value->items()) keys.push_back(key);
  EXPECT_THAT(
      keys, ::testing::ElementsAre("schema", "schema_version", "kind", "run", "plan", "devices", "status", "failures"));
}

TEST(JsonDocument, DoublesKeepEveryBit) {
  std::mt19937_64 random(7);
  RunDocument document = Generator(3).document();
  document.devices[0].launches = {Generator(4).launch(0, 1)};
  auto& values =
      document.devices[0].launches[0].samples.emplace_back(SampleSeries{"s", "1", Basis::observed, {}, {}}).values;
  while (values.size() < 20'000) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  const auto text = write_document(document);
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_TRUE(read_document(*text, "text")->devices[0].launches[0].samples.back().values == values);
}

RunDocument small_document() {
  Generator generator(11);
  RunDocument document = generator.document();
  document.devices.resize(1);
  document.devices[0].launches = {generator.launch(0, 1)};
  auto& launch = document.devices[0].launches[0];
  launch.samples = {{"warm_forward", "ns", Basis::observed, {1, 2}, {}}};
  launch.phases.clear();
  return document;
}

TEST(JsonDocument, WhatItsOwnSchemaRefusesIsNeverWritten) {
  const auto refused = [](auto spoil) {
    RunDocument document = small_document();
    EXPECT_TRUE(write_document(document));
    spoil(document);
    const auto text = write_document(document);
    return !text && text.error().code == ErrorCode::internal;
  };
  const auto samples = [](RunDocument& d) -> SampleSeries& { return d.devices[0].launches[0].samples[0]; };
  EXPECT_TRUE(refused([&](RunDocument& d) { samples(d).values[0] = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([&](RunDocument& d) { samples(d).values[1] = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused([&](RunDocument& d) { samples(d).flags = {"throttled"}; }));
  EXPECT_TRUE(refused([&](RunDocument& d) { samples(d).unit = ""; }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    d.devices[0].launches[0].duration = {std::monostate{}, "ns", Basis::observed, ""};
  }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    d.devices[0].launches[0].duration = {std::int64_t{1}, "ns", Basis::observed, "why"};
  }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    d.devices[0].launches[0].duration = {std::int64_t{1} << 53, "ns", Basis::observed, ""};
  }));
  EXPECT_TRUE(refused([](RunDocument& d) { d.devices[0].launches[0].outcome = LaunchOutcome::running; }));
  EXPECT_TRUE(refused([](RunDocument& d) { d.devices[0].launches[0].workload = 99; }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    d.devices[0].identity.fields = {{"k", Tier::thing, FieldState::unknown, {}, "", "s"}};
  }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    const IdentityField field{"k", Tier::thing, FieldState::value, "v", "", "s"};
    d.devices[0].identity.fields = {field, field};
  }));
  EXPECT_TRUE(refused([](RunDocument& d) { d.kind = DocumentKind::replay; }));
  EXPECT_TRUE(refused([](RunDocument& d) {
    d.status = DocumentStatus::ok;
    d.failures = {{"host:0", 0, "", "hung", "it hung"}};
  }));
}

TEST(JsonDocument, TextThatIsNotUtf8IsWrittenWithReplacements) {
  RunDocument document = small_document();
  document.run.argv = {"caf\xe9"};
  const auto text = write_document(document);
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_EQ(read_document(*text, "text")->run.argv[0], "caf\xef\xbf\xbd");
}

// ---- versions ----

std::string with(const char* key, const nlohmann::ordered_json& value) {
  auto document = *parse(*write_document(small_document()), "text");
  document[key] = value;
  return document.dump();
}

TEST(JsonDocument, NewerMajorVersionIsRefusedInOneSentence) {
  const auto read = read_document(with("schema_version", "2.0.0"), "new.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_EQ(read.error().text,
            "new.json follows schema 2.0.0 and this assay reads up to 1.x; read it with a newer assay");
  EXPECT_FALSE(validate(with("schema_version", "2.0.0"), "new.json"));
}

TEST(JsonDocument, NewerMinorVersionIsReadWithAWarning) {
  auto document = *parse(with("schema_version", "1.99.0"), "text");
  document["added_in_1_99"] = true;
  document["run"]["also_added"] = {1, 2};
  std::string warning;
  const auto read = read_document(document.dump(), "newer.json", &warning);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_TRUE(*read == small_document());
  EXPECT_THAT(warning, HasSubstr("1.99.0"));
  document["run"]["argv"] = "not a list";
  EXPECT_FALSE(read_document(document.dump(), "newer.json", &warning));
  document["run"].erase("argv");
  EXPECT_FALSE(validate(document.dump(), "newer.json"));
}

TEST(JsonDocument, AnOwnVersionGivesNoWarningAndNoUnknownKey) {
  std::string warning = "old";
  EXPECT_TRUE(read_document(with("schema_version", "1.0.7"), "text", &warning));
  EXPECT_EQ(warning, "");
  EXPECT_FALSE(read_document(with("extra", 1), "text"));
}

TEST(JsonDocument, WhatIsNotADocumentIsRefused) {
  for (const char* version : {"0.9.0", "1.0", "1.0.0.0", "one", "", "-1.0.0", "99999999999999999999.0.0"})
    EXPECT_FALSE(read_document(with("schema_version", version), "text")) << version;
  EXPECT_FALSE(read_document(with("schema_version", 1), "text"));
  EXPECT_FALSE(read_document(with("schema", "other"), "text"));
  EXPECT_FALSE(read_document(with("kind", "poem"), "text"));
  for (const char* text : {"", "null", "[]", "{}", "1", "\"assay\"", "{\"schema\":\"assay\"}"})
    EXPECT_FALSE(read_document(text, "text")) << text;
}

TEST(JsonDocument, ReservedKindsValidateButAreNotARun) {
  const auto run = (*parse(*write_document(small_document()), "text"))["run"];
  for (const char* kind : {"bench", "frontier"}) {
    const nlohmann::ordered_json document{{"schema", "assay"},
                                          {"schema_version", "1.0.0"},
                                          {"kind", kind},
                                          {"run", run},
                                          {"body", {{"later", 1}}},
                                          {"status", "ok"},
                                          {"failures", nlohmann::ordered_json::array()}};
    const auto found = validate(document.dump(), kind);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(to_text(*found), kind);
    EXPECT_FALSE(read_document(document.dump(), kind));
    EXPECT_FALSE(validate(
        nlohmann::ordered_json(document).patch(R"([{"op":"add","path":"/plan","value":{}}])"_json).dump(), kind));
  }
}

TEST(JsonDocument, AViolationIsNamedByItsPlace) {
  auto document = *parse(*write_document(small_document()), "text");
  document["devices"][0]["launches"][0]["samples"][0]["basis"] = "guessed";
  const auto read = read_document(document.dump(), "run.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text, HasSubstr("run.json"));
  EXPECT_THAT(read.error().text, HasSubstr("/devices/0/launches/0/samples/0/basis"));
}

}  // namespace
}  // namespace assay::json
