// SPDX-License-Identifier: Apache-2.0
// What the CPU module states: nothing unknown that this machine can answer, only registered keys, and its two modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "suite/identity/assemble.hpp"
#include "suite/identity/compare.hpp"
#include "suite/identity/environment.hpp"
#include "suite/modules/identify.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string bin(const std::string& file) {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/" + file;
}

Identity host(const modules::Options& options = {}, std::int64_t ordinal = 0) {
  const PlannedDevice device{"host:0", "host", bin("libassay-host.so"), ordinal, options};
  const auto identity =
      modules::identify(device, {"1", "abc", false, "caching", ""}, modules::child_prober(bin("assay")));
  if (!identity) {
    ADD_FAILURE() << identity.error().text;
    return {};
  }
  return *identity;
}

TEST(HostIdentity, EveryThingIsKnownAndNothingIsRefused) {
  const auto identity = host();
  for (const auto& field : identity.fields)
    if (field.tier == Tier::thing) {
      EXPECT_NE(field.state, FieldState::unknown) << field.key << ": " << field.reason;
    }
  for (const auto& finding : identity.findings) EXPECT_FALSE(finding.refuses) << finding.text;
  EXPECT_EQ(identity::text_value(identity, "platform"), "cpu");
  EXPECT_TRUE(identity::integer_value(identity, "other_load"));
  EXPECT_THAT(identity::text_value(identity, "uuid").value_or(""), testing::StartsWith("host:"));
  EXPECT_EQ(identity::text_value(identity, "runtime_sha256").value_or("").size(), 64U);
  EXPECT_THAT(identity::text_value(identity, "fp_flags").value_or(""), HasSubstr("contract"));
  EXPECT_THAT(identity::text_value(identity, "compiler").value_or(""),
              testing::AnyOf(HasSubstr("g++"), HasSubstr("clang")));
  EXPECT_THAT(identity::text_value(identity, "embedded_targets").value_or(""),
              HasSubstr(identity::text_value(identity, "isa_level").value_or("no level")));
}

TEST(HostIdentity, ItIsTheSameAsItselfAndItsTwoDevicesAreOneBoard) {
  const auto first = host();
  const auto result = identity::compare(first, host({}, 1));
  EXPECT_EQ(result.relation, identity::Relation::same);
  EXPECT_TRUE(result.same_board);
}

TEST(HostIdentity, ModeWaveAndThreadsAreThingsAndTheBudgetIsAChange) {
  const auto plain = host();
  for (const modules::Options& options : {modules::Options{{"wave", "32"}}, {{"wave", "64"}}, {{"threads", "7"}}})
    EXPECT_EQ(identity::compare(plain, host(options)).relation, identity::Relation::different_thing)
        << options[0].second;
  EXPECT_EQ(identity::compare(host({{"wave", "32"}}), host({{"wave", "64"}})).relation,
            identity::Relation::different_thing);
  const auto small = identity::compare(plain, host({{"memory_bytes", "67108864"}}));
  EXPECT_EQ(small.relation, identity::Relation::change_only);
  ASSERT_EQ(small.changes.size(), 1U);
  EXPECT_EQ(small.changes.front().key, "memory_visible_bytes");
}

TEST(HostIdentity, ABadOptionIsTheModulesOwnSentence) {
  const PlannedDevice device{"host:0", "host", bin("libassay-host.so"), 0, {{"wave", "33"}}};
  const auto identity = modules::identify(device, {}, modules::child_prober(bin("assay")));
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().text, HasSubstr("wave"));
}

// Fields are handed over by their literal names; a misspelt one would refuse every run on hardware that no test has.
TEST(ModuleSources, NameOnlyRegisteredKeys) {
  const char* source = std::getenv("ASSAY_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const std::regex stated(
      R"re((?:out\.|[^a-z_])(?:text|integer|boolean|unknown|not_applicable|text_or_unknown|write_[a-z]+)\((?:out, )?"([a-z0-9_]+)")re");
  int keys = 0;
  for (const char* room : {"host", "gpu", "cuda", "hip"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source) / "backends" / room)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      for (std::sregex_iterator match(text.begin(), text.end(), stated), end; match != end; ++match) {
        const std::string key = (*match)[1];
        EXPECT_TRUE(find_rule(key) != nullptr || find_sensor(key) != nullptr) << entry.path() << " states " << key;
        ++keys;
      }
    }
  EXPECT_GT(keys, 60);
}

}  // namespace
}  // namespace assay
