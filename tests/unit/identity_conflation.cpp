// SPDX-License-Identifier: Apache-2.0
// The eight ways in which one kind of hardware has passed for another, each shown to the comparison by a fake module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "suite/identity/compare.hpp"
#include "tests/support/canned.hpp"

namespace assay {
namespace {

using canned::identity_of;
using identity::compare;
using identity::Relation;
using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> field_keys(const std::vector<identity::Difference>& differences) {
  std::vector<std::string> out;
  for (const auto& difference : differences) out.push_back(difference.key);
  return out;
}

std::vector<std::string> refusing(const Identity& identity) {
  std::vector<std::string> out;
  for (const auto& finding : identity.findings)
    if (finding.refuses) out.push_back(finding.key);
  return out;
}

TEST(Conflation, HipOnNvidiaIsNeitherCudaOnNvidiaNorHipOnAmd) {
  const auto by_hip = identity_of("h100-by-hip");
  const auto against_cuda = compare(by_hip, identity_of("h100"));
  EXPECT_EQ(against_cuda.relation, Relation::different_thing);
  EXPECT_THAT(field_keys(against_cuda.things), UnorderedElementsAre("backend"));
  EXPECT_TRUE(against_cuda.same_board);
  const auto against_amd = compare(by_hip, identity_of("mi250x"));
  EXPECT_EQ(against_amd.relation, Relation::different_thing);
  EXPECT_THAT(field_keys(against_amd.things), Contains("platform"));
  EXPECT_THAT(field_keys(against_amd.things), Contains("pci_vendor"));
}

TEST(Conflation, AnOverriddenArchitectureIsRefusedByTheKernelDriversWord) {
  const auto overridden = identity_of("strix-halo-overridden");
  EXPECT_THAT(refusing(overridden), UnorderedElementsAre("arch_physical"));
  EXPECT_EQ(compare(overridden, identity_of("strix-halo-overridden")).relation, Relation::invalid);
}

TEST(Conflation, AnOverrideVariableIsRefusedEvenWhereTheBoardLooksRight) {
  for (const char* entry :
       {"HSA_OVERRIDE_GFX_VERSION=9.0.10", "HSA_OVERRIDE_GFX_VERSION=", "HSA_OVERRIDE_GFX_VERSION_1=9.0.10"}) {
    const auto overridden = identity_of("mi250x", {entry});
    EXPECT_THAT(refusing(overridden), testing::SizeIs(1)) << entry;
    const auto result = compare(overridden, identity_of("mi250x"));
    EXPECT_EQ(result.relation, Relation::invalid) << entry;
    EXPECT_EQ(result.refusals.front().side, 'a') << entry;
  }
}

TEST(Conflation, EqualComputeCapabilityOfTwoVendorsIsNoIdentity) {
  // Both boards call themselves 9.0; nothing of that enters an identity.
  const auto result = compare(identity_of("h100"), identity_of("mi250x"));
  EXPECT_EQ(result.relation, Relation::different_thing);
  EXPECT_THAT(field_keys(result.things), Contains("arch"));
  EXPECT_EQ(find_rule("compute_capability"), nullptr);
}

TEST(Conflation, ARecordThatCallsAnAmdBoardCudaIsRefused) {
  const auto misnamed = identity_of("mi250x-called-cuda");
  EXPECT_THAT(refusing(misnamed), Contains("pci_vendor"));
  EXPECT_EQ(compare(misnamed, identity_of("h100")).relation, Relation::invalid);
  EXPECT_EQ(compare(identity_of("mi250x"), misnamed).relation, Relation::invalid);
}

TEST(Conflation, AnEmulatorUnderAnAmdNameIsRefused) {
  const auto emulated = identity_of("hip-on-cpu");
  EXPECT_THAT(refusing(emulated), UnorderedElementsAre("execution"));
  const auto result = compare(emulated, identity_of("mi250x"));
  EXPECT_EQ(result.relation, Relation::invalid);
  EXPECT_THAT(field_keys(result.things), Contains("execution"));
  EXPECT_THAT(field_keys(result.things), Contains("pci_vendor"));
}

TEST(Conflation, HeadersThatImitateCudaAreRefusedByTheArchitecturesName) {
  const auto imitating = identity_of("mi250x-imitating-cuda");
  EXPECT_THAT(refusing(imitating), Contains("arch"));
  EXPECT_EQ(compare(imitating, identity_of("mi250x")).relation, Relation::invalid);
}

TEST(Conflation, ASliceOfABoardIsAnotherThingThanTheBoard) {
  const auto cpx = compare(identity_of("mi300x"), identity_of("mi300x-cpx-slice"));
  EXPECT_EQ(cpx.relation, Relation::different_thing);
  EXPECT_THAT(field_keys(cpx.things), UnorderedElementsAre("partition", "multiprocessors"));
  EXPECT_TRUE(cpx.same_board);  // one board all the same, which is why the partition must decide
  const auto mig = compare(identity_of("h100"), identity_of("h100-mig"));
  EXPECT_EQ(mig.relation, Relation::different_thing);
  EXPECT_THAT(field_keys(mig.things), UnorderedElementsAre("partition", "multiprocessors"));
  EXPECT_FALSE(mig.same_board);
}

TEST(Conflation, AMixtureOfReleasesShowsEveryPartThatDiffers) {
  const auto result = compare(identity_of("mi250x"), identity_of("mi250x-mixture"));
  EXPECT_EQ(result.relation, Relation::change_only);
  EXPECT_THAT(field_keys(result.changes),
              UnorderedElementsAre("compiler", "toolkit_compiled", "runtime_version", "runtime_path",
                                   "hsa_runtime_path", "code_object_version"));
  EXPECT_THAT(result.things, IsEmpty());
}

}  // namespace
}  // namespace assay
