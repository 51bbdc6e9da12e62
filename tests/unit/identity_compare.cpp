// SPDX-License-Identifier: Apache-2.0
// Each rule of the comparison: tiers, unknown fields, shares, scopes, the environment, and its symmetry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "suite/identity/compare.hpp"
#include "suite/identity/environment.hpp"
#include "tests/support/canned.hpp"

namespace assay {
namespace {

using canned::identity_of;
using identity::compare;
using identity::Comparison;
using identity::Relation;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> keys(const std::vector<identity::Difference>& differences) {
  std::vector<std::string> out;
  for (const auto& difference : differences) out.push_back(difference.key);
  return out;
}

IdentityField& field(Identity& identity, std::string_view key) {
  return *std::find_if(identity.fields.begin(), identity.fields.end(), [&](const auto& f) { return f.key == key; });
}

void make_unknown(Identity& identity, std::string_view key) {
  auto& gone = field(identity, key);
  gone.state = FieldState::unknown;
  gone.value = std::string{};
  gone.reason = "cannot be read here";
}

// Another value of the same type.
FieldValue another(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text + " of another kind";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number + 1;
  return !std::get<bool>(value);
}

class EveryField : public testing::TestWithParam<const char*> {};

TEST_P(EveryField, ADifferenceMeansWhatItsTierSays) {
  const auto base = identity_of(GetParam());
  const auto platform = identity::platform_of(base);
  ASSERT_TRUE(platform);
  int checked = 0;
  for (const auto& rule : kFieldRules) {
    // Fields that findings are made of have tests of their own; the platform decides about all the others.
    if (rule.scope == Scope::case_only || !rule.applies_to(*platform)) continue;
    if (rule.key == "platform" || rule.key == "pci_vendor" || rule.key == "arch" || rule.key == "arch_physical" ||
        rule.key == "execution" || rule.key == "virtualization")
      continue;
    auto changed = base;
    auto& there = field(changed, rule.key);
    if (there.state != FieldState::value) continue;
    there.value = another(there.value);
    const auto result = compare(base, changed, {false, true});
    const auto tier = rule.tier_on(*platform);
    const auto expected = tier == Tier::thing    ? Relation::different_thing
                          : tier == Tier::change ? Relation::change_only
                                                 : Relation::same;
    EXPECT_EQ(result.relation, expected) << rule.key;
    const auto& list = tier == Tier::thing ? result.things : tier == Tier::change ? result.changes : result.details;
    if (tier != Tier::validity) {
      EXPECT_THAT(keys(list), ElementsAre(std::string(rule.key)));
      EXPECT_EQ(list.front().a, identity::text_of(base.find(rule.key)->value));
      EXPECT_EQ(list.front().b, identity::text_of(there.value));
    }
    ++checked;
  }
  EXPECT_GT(checked, 30);
}

INSTANTIATE_TEST_SUITE_P(OfEachPlatform, EveryField, testing::Values("h100", "mi250x", "host"));

TEST(Compare, AKnownIdentityIsTheSameAsItself) {
  for (const char* name : {"h100", "mi250x", "mi300x", "host", "host-fibres"}) {
    const auto it = identity_of(name);
    const auto result = compare(it, it, {false, true});
    EXPECT_EQ(result.relation, Relation::same) << name << ": " << testing::PrintToString(keys(result.things));
    EXPECT_TRUE(result.same_board) << name;
    EXPECT_THAT(result.details, IsEmpty());
  }
}

TEST(Compare, AnUnknownThingEqualsNothingNotEvenAnotherUnknown) {
  const auto blind = identity_of("h100-no-nvml");
  const auto twice = compare(blind, blind);
  EXPECT_EQ(twice.relation, Relation::different_thing);
  EXPECT_THAT(keys(twice.things), UnorderedElementsAre("ecc", "power_cap_share"));
  EXPECT_NE(twice.things.front().a.find("unknown (NVML is not there)"), std::string::npos);
  const auto once = compare(blind, identity_of("h100"));
  EXPECT_EQ(once.relation, Relation::different_thing);
  EXPECT_THAT(keys(once.things), UnorderedElementsAre("ecc", "power_cap_share"));
}

TEST(Compare, OneSeriesOnOneBoardInOneBootMayShareAnUnknownAndSaysSo) {
  const auto blind = identity_of("h100-no-nvml");
  const auto shared = compare(blind, blind, {true, false});
  EXPECT_EQ(shared.relation, Relation::same);
  EXPECT_THAT(shared.shared_unknown, UnorderedElementsAre("ecc", "power_cap_share"));
  // Another boot, another board, an unknown board: nothing is shared.
  const auto rebooted = identity_of("h100-no-nvml", {}, canned::machine("m1", "b2"));
  EXPECT_EQ(compare(blind, rebooted, {true, false}).relation, Relation::different_thing);
  auto elsewhere = blind;
  field(elsewhere, "uuid").value = std::string("nvidia:GPU-99999999-ffff");
  EXPECT_EQ(compare(blind, elsewhere, {true, false}).relation, Relation::different_thing);
  auto nameless = blind;
  make_unknown(nameless, "uuid");
  EXPECT_EQ(compare(nameless, nameless, {true, false}).relation, Relation::different_thing);
  // Known on one side only is a difference within a series too.
  EXPECT_EQ(compare(blind, identity_of("h100"), {true, false}).relation, Relation::different_thing);
}

TEST(Compare, AMissingKeyIsUnknownAndNeverEqualByAbsence) {
  auto old = identity_of("h100");
  std::erase_if(old.fields, [](const auto& f) { return f.key == "ecc"; });
  EXPECT_THAT(keys(compare(old, old).things), ElementsAre("ecc"));
  EXPECT_THAT(keys(compare(old, identity_of("h100")).things), ElementsAre("ecc"));
}

TEST(Compare, NotApplicableHoldsOnlyWhereTheRegistrySaysSo) {
  auto lazy = identity_of("h100");
  field(lazy, "ecc").state = FieldState::not_applicable;
  EXPECT_THAT(keys(compare(lazy, lazy).things), ElementsAre("ecc"));
  const auto host = identity_of("host");
  EXPECT_EQ(host.find("ecc")->state, FieldState::not_applicable);
  EXPECT_EQ(compare(host, host).relation, Relation::same);
}

TEST(Compare, TwoBoardsOfOneModelAreOneThingAndNotOneBoard) {
  const auto result = compare(identity_of("h100"), identity_of("h100-second-board"));
  EXPECT_EQ(result.relation, Relation::same);
  EXPECT_FALSE(result.same_board);
  EXPECT_THAT(keys(result.details), UnorderedElementsAre("uuid", "pci_bdf"));
}

TEST(Compare, AnUnknownUuidCountsAsAnotherBoard) {
  auto nameless = identity_of("h100");
  make_unknown(nameless, "uuid");
  const auto result = compare(nameless, nameless);
  EXPECT_EQ(result.relation, Relation::same);
  EXPECT_FALSE(result.same_board);
}

TEST(Compare, AnUpgradeIsAChangeListedInFull) {
  const auto result = compare(identity_of("h100"), identity_of("h100-upgraded"));
  EXPECT_EQ(result.relation, Relation::change_only);
  EXPECT_THAT(keys(result.changes), UnorderedElementsAre("memory_visible_bytes", "driver", "runtime_version",
                                                         "driver_api_version", "toolkit_compiled", "compiler"));
  EXPECT_TRUE(result.same_board);
}

TEST(Compare, APowerCapCountsAsAShareOfTheDefault) {
  EXPECT_THAT(keys(compare(identity_of("h100"), identity_of("h100-capped")).things), ElementsAre("power_cap_share"));
  // The same share of another default is the same thing; the watts are information.
  auto other = identity_of("h100");
  field(other, "power_cap_watts").value = std::int64_t{650};
  field(other, "power_cap_default_watts").value = std::int64_t{650};
  const auto result = compare(identity_of("h100"), other);
  EXPECT_EQ(result.relation, Relation::same);
  EXPECT_THAT(keys(result.details), UnorderedElementsAre("power_cap_watts", "power_cap_default_watts"));
}

TEST(Compare, PhysicalMemoryIsAThingOnAGpuAndAChangeOnTheHost) {
  auto other = identity_of("h100");
  field(other, "memory_total_bytes").value = std::int64_t{100000000000};
  EXPECT_EQ(compare(identity_of("h100"), other).relation, Relation::different_thing);
  const auto host = compare(identity_of("host"), identity_of("host-more-memory"));
  EXPECT_EQ(host.relation, Relation::change_only);
  EXPECT_THAT(keys(host.changes), ElementsAre("memory_total_bytes"));
}

TEST(Compare, HostModesAndHostProcessorsAreDifferentThings) {
  EXPECT_THAT(keys(compare(identity_of("host"), identity_of("host-fibres")).things),
              UnorderedElementsAre("execution", "wave_size"));
  EXPECT_THAT(keys(compare(identity_of("host"), identity_of("host-other-cpu")).things), ElementsAre("cpu_signature"));
  EXPECT_EQ(compare(identity_of("host"), identity_of("h100")).relation, Relation::different_thing);
}

TEST(Compare, APassedThroughBoardIsTheBoardAndASharedOneIsNot) {
  EXPECT_EQ(compare(identity_of("h100"), identity_of("h100-passthrough")).relation, Relation::same);
  auto shared = identity_of("h100");
  field(shared, "virtualization").value = std::string("vgpu");
  EXPECT_THAT(keys(compare(identity_of("h100"), shared).things), ElementsAre("virtualization"));
}

TEST(Compare, TheAllocatorsPolicyDecidesForMemoryResultsOnly) {
  auto other = identity_of("h100");
  field(other, "allocator_policy").value = std::string("expandable");
  EXPECT_EQ(compare(identity_of("h100"), other, {false, false}).relation, Relation::same);
  EXPECT_THAT(keys(compare(identity_of("h100"), other, {false, true}).things), ElementsAre("allocator_policy"));
}

TEST(Compare, AnUnsetVariableIsNotAnEmptyOne) {
  const auto unset = identity_of("h100");
  const auto empty = identity_of("h100", {"CUDA_MODULE_LOADING="});
  const auto result = compare(unset, empty);
  EXPECT_EQ(result.relation, Relation::change_only);
  EXPECT_THAT(result.changes,
              ElementsAre(identity::Difference{"env.CUDA_MODULE_LOADING", Tier::change, "unset", "''"}));
  EXPECT_EQ(compare(empty, empty).relation, Relation::same);
}

TEST(Compare, VariablesCountOnThePlatformTheyActOn) {
  EXPECT_THAT(keys(compare(identity_of("mi250x", {"HSA_XNACK=1"}), identity_of("mi250x")).things),
              ElementsAre("env.HSA_XNACK"));
  const auto foreign = compare(identity_of("h100", {"HSA_XNACK=1"}), identity_of("h100"));
  EXPECT_EQ(foreign.relation, Relation::same);
  EXPECT_THAT(keys(foreign.details), ElementsAre("env.HSA_XNACK"));
}

TEST(Compare, ADebugVariableInvalidatesAndItsOffPositionDoesNot) {
  EXPECT_EQ(compare(identity_of("h100", {"CUDA_LAUNCH_BLOCKING=1"}), identity_of("h100")).relation, Relation::invalid);
  EXPECT_EQ(compare(identity_of("h100", {"CUDA_LAUNCH_BLOCKING=0"}), identity_of("h100")).relation, Relation::same);
  EXPECT_EQ(compare(identity_of("host", {"LD_PRELOAD=/x.so"}), identity_of("host")).relation, Relation::invalid);
}

TEST(Compare, AFindingCannotBeEditedOutOfADocument) {
  auto edited = identity_of("strix-halo-overridden");
  edited.findings.clear();
  EXPECT_EQ(compare(edited, edited).relation, Relation::invalid);
}

TEST(Compare, MarksAreHandedOnAndDoNotDecide) {
  const auto result = compare(identity_of("h100"), identity_of("h100-throttled"));
  EXPECT_EQ(result.relation, Relation::same);
  ASSERT_EQ(result.marks.size(), 2U);
  EXPECT_EQ(result.marks.front().side, 'b');
}

TEST(Compare, AMalformedIdentityIsInvalid) {
  auto twice = identity_of("h100");
  twice.fields.push_back(twice.fields.front());
  EXPECT_EQ(compare(twice, identity_of("h100")).relation, Relation::invalid);
  auto newer = identity_of("h100");
  newer.fields.push_back(identity::value_field("quantum_state", std::string("up"), "a newer version"));
  EXPECT_EQ(compare(identity_of("h100"), newer).relation, Relation::invalid);
  EXPECT_EQ(compare(Identity{}, Identity{}).relation, Relation::invalid);
}

TEST(Compare, CasesAreComparedByTheirOwnFields) {
  std::vector<IdentityField> a;
  for (const auto& rule : kFieldRules)
    if (rule.scope == Scope::case_only)
      a.push_back(identity::value_field(std::string(rule.key), std::string("x"), "test"));
  EXPECT_EQ(identity::compare_cases(a, a, Platform::nvidia).relation, Relation::same);
  for (auto& changed : a) {
    auto b = a;
    for (auto& there : b)
      if (there.key == changed.key) there.value = std::string("y");
    const auto result = identity::compare_cases(a, b, Platform::nvidia);
    const bool decides = find_rule(changed.key)->tier == Tier::thing;
    EXPECT_EQ(result.relation, decides ? Relation::different_thing : Relation::change_only) << changed.key;
  }
}

// ---- properties over random pairs ----

Identity disturbed(Identity identity, std::mt19937& random) {
  for (int i = 0; i < 4; ++i) {
    auto& there = identity.fields[random() % identity.fields.size()];
    switch (random() % 4) {
      case 0:
        there.value = another(there.value);
        break;
      case 1:
        there.state = FieldState::unknown;
        there.reason = "lost";
        break;
      case 2:
        there.state = FieldState::not_applicable;
        break;
      default:
        identity.findings.push_back({there.key, random() % 4 == 0, "found"});
    }
  }
  if (random() % 3 == 0)
    identity.fields.erase(identity.fields.begin() + static_cast<std::ptrdiff_t>(random() % identity.fields.size()));
  return identity;
}

std::vector<identity::Difference> mirrored(std::vector<identity::Difference> differences) {
  for (auto& difference : differences) std::swap(difference.a, difference.b);
  return differences;
}

TEST(CompareProperty, IsSymmetric) {
  const std::vector<Identity> bases{identity_of("h100"), identity_of("mi250x"), identity_of("host"),
                                    identity_of("h100", {"CUDA_CACHE_PATH=/x", "LD_PRELOAD=/y"})};
  std::mt19937 random(20240501);
  int relations[4] = {};
  for (int round = 0; round < 400; ++round) {
    const auto a = disturbed(bases[random() % bases.size()], random);
    const auto b = disturbed(bases[random() % bases.size()], random);
    const identity::ComparisonContext context{random() % 2 == 0, random() % 2 == 0};
    const auto forth = compare(a, b, context);
    const auto back = compare(b, a, context);
    EXPECT_EQ(forth.relation, back.relation);
    EXPECT_EQ(forth.things, mirrored(back.things));
    EXPECT_EQ(forth.changes, mirrored(back.changes));
    EXPECT_EQ(forth.same_board, back.same_board);
    EXPECT_EQ(forth.shared_unknown, back.shared_unknown);
    EXPECT_EQ(forth.refusals.size(), back.refusals.size());
    ++relations[static_cast<int>(forth.relation)];
  }
  EXPECT_GT(relations[static_cast<int>(Relation::different_thing)], 0);
  EXPECT_GT(relations[static_cast<int>(Relation::invalid)], 0);
}

TEST(CompareProperty, IsReflexiveExactlyWhereNoThingIsUnknownAndNothingRefuses) {
  std::mt19937 random(7);
  int same = 0;
  for (int round = 0; round < 300; ++round) {
    auto it = identity_of(round % 2 == 0 ? "h100" : "host");
    const auto platform = *identity::platform_of(it);
    for (int i = 0; i < static_cast<int>(random() % 3); ++i) {
      auto& there = it.fields[random() % it.fields.size()];
      if (there.key != "platform") make_unknown(it, there.key);
    }
    const bool blind = std::any_of(it.fields.begin(), it.fields.end(), [&](const auto& f) {
      const auto* rule = find_rule(f.key);
      return f.state == FieldState::unknown && rule->tier_on(platform) == Tier::thing &&
             rule->scope == Scope::everything;
    });
    const auto result = compare(it, it);
    EXPECT_EQ(result.relation, blind ? Relation::different_thing : Relation::same);
    if (!blind) ++same;
  }
  EXPECT_GT(same, 50);
}

}  // namespace
}  // namespace assay
