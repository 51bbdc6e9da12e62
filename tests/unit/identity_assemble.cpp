// SPDX-License-Identifier: Apache-2.0
// Assembling identities: registry order, the three states, misstatements, findings, the environment, the system,
// hashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "suite/identity/environment.hpp"
#include "suite/identity/findings.hpp"
#include "suite/identity/sha256.hpp"
#include "tests/support/canned.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
using canned::identity_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> found(const Identity& identity, bool refuses) {
  std::vector<std::string> keys;
  for (const auto& finding : identity.findings)
    if (finding.refuses == refuses) keys.push_back(finding.key);
  return keys;
}

TEST(Registry, KeysAreUniqueAndSnakeCase) {
  std::set<std::string_view> keys;
  for (const auto& rule : kFieldRules) {
    EXPECT_TRUE(keys.insert(rule.key).second) << rule.key;
    EXPECT_EQ(rule.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos) << rule.key;
    EXPECT_NE(rule.platforms, 0) << rule.key;
    EXPECT_FALSE(rule.meaning.empty()) << rule.key;
  }
}

TEST(Registry, HasTheTiersAndTheHostExceptionsOfTheDesign) {
  for (const char* key : {"backend",       "platform",
                          "pci_vendor",    "arch",
                          "arch_features", "arch_physical",
                          "partition",     "memory_total_bytes",
                          "ecc",           "power_cap_share",
                          "fp_flags",      "isa_level",
                          "execution",     "allocator_policy",
                          "case",          "shape",
                          "dtype",         "implementation",
                          "input_law",     "cache_mode",
                          "timing_mode",   "kernel_source_version"}) {
    ASSERT_NE(find_rule(key), nullptr) << key;
    EXPECT_EQ(find_rule(key)->tier, Tier::thing) << key;
  }
  for (const char* key : {"driver", "runtime_version", "toolkit_compiled", "compiler", "compiler_flags", "suite_commit",
                          "libraries", "firmware", "allocator_options", "memory_visible_bytes"})
    EXPECT_EQ(find_rule(key)->tier, Tier::change) << key;
  for (const char* key : {"uuid", "pci_bdf", "host_name", "device_name", "boot_id"})
    EXPECT_EQ(find_rule(key)->tier, Tier::info) << key;
  EXPECT_EQ(find_rule("memory_total_bytes")->tier_on(Platform::cpu), Tier::change);
  for (const char* key : {"ecc", "power_cap_share", "partition"})
    EXPECT_FALSE(find_rule(key)->applies_to(Platform::cpu)) << key;
  EXPECT_EQ(find_rule("allocator_policy")->scope, Scope::memory_only);
}

TEST(Assemble, EveryKeyStandsOnceInRegistryOrder) {
  for (const char* name : {"h100", "mi250x", "host"}) {
    const auto identity = identity_of(name);
    std::vector<std::string> expected;
    for (const auto& rule : kFieldRules)
      if (rule.scope != Scope::case_only) expected.emplace_back(rule.key);
    std::vector<std::string> actual;
    for (const auto& field : identity.fields) actual.push_back(field.key);
    EXPECT_EQ(actual, expected) << name;
    for (const auto& field : identity.fields)
      EXPECT_NE(field.state == FieldState::value, !field.reason.empty()) << name << " " << field.key;
  }
}

TEST(Assemble, CannedBoardsLeaveNothingUnknownAndFindNothing) {
  for (const char* name : {"h100", "mi250x", "mi300x", "host"}) {
    const auto identity = identity_of(name);
    for (const auto& field : identity.fields) EXPECT_NE(field.state, FieldState::unknown) << name << " " << field.key;
    EXPECT_THAT(identity.findings, IsEmpty()) << name;
  }
}

TEST(Assemble, WhatIsMissingIsUnknownWithAReason) {
  auto fields = canned::stated("h100");
  std::erase_if(fields, [](const auto& field) { return field.key == "ecc" || field.key == "driver"; });
  const auto identity = identity::assemble({fields, {}, {}});
  EXPECT_EQ(identity.find("ecc")->state, FieldState::unknown);
  EXPECT_EQ(identity.find("ecc")->reason, "the module does not state it");
  EXPECT_EQ(identity.find("kernel_release")->reason, "the program did not read it");
  EXPECT_THAT(identity.find("allocator_policy")->reason, HasSubstr("no plan"));
}

TEST(Assemble, AModuleMayNotCallAFieldNotApplicable) {
  auto fields = canned::stated("h100");
  for (auto& field : fields)
    if (field.key == "ecc") field = {"ecc", Tier::info, FieldState::not_applicable, std::string{}, "who knows", ""};
  const auto identity = identity::assemble({fields, canned::machine(), {}});
  EXPECT_EQ(identity.find("ecc")->state, FieldState::unknown);
  EXPECT_THAT(identity.find("ecc")->reason, HasSubstr("who knows"));
}

TEST(Assemble, AValueBeatsAnEarlierUnknown) {
  auto fields = canned::stated("h100");
  fields.insert(fields.begin(), identity::unknown_field("driver", "no device yet"));
  fields.push_back(identity::unknown_field("arch", "asked again"));
  const auto identity = identity::assemble({fields, canned::machine(), {}});
  EXPECT_EQ(identity::text_value(identity, "driver"), "550.54.15");
  EXPECT_EQ(identity::text_value(identity, "arch"), "sm_90");
  EXPECT_THAT(identity.findings, IsEmpty());
}

TEST(Assemble, MisstatementsRefuse) {
  EXPECT_THAT(found(identity_of("unregistered"), true), ElementsAre("compute_capability"));
  EXPECT_EQ(identity_of("unregistered").find("compute_capability"), nullptr);
  EXPECT_THAT(found(identity_of("contradicting"), true), ElementsAre("arch"));
  EXPECT_THAT(found(identity_of("without-platform"), true), ElementsAre("platform"));
}

TEST(Assemble, ThePowerCapsShareIsDerivedAndRounded) {
  EXPECT_EQ(identity::integer_value(identity_of("h100"), "power_cap_share"), 1000);
  EXPECT_EQ(identity::integer_value(identity_of("h100-capped"), "power_cap_share"), 714);
  EXPECT_EQ(identity_of("h100-no-nvml").find("power_cap_share")->state, FieldState::unknown);
}

TEST(Assemble, TheMachineStandsForTheHostsBoard) {
  EXPECT_EQ(identity::text_value(identity_of("host"), "uuid"), "host:m1");
}

TEST(Findings, MarkWhatDoesNotRefuse) {
  EXPECT_THAT(found(identity_of("h100-throttled"), false), UnorderedElementsAre("throttle_reasons", "other_processes"));
  EXPECT_THAT(found(identity_of("h100-jit"), false), ElementsAre("code_used"));
  EXPECT_THAT(found(identity_of("h100-half-upgraded"), false), ElementsAre("toolkit_compiled"));
  EXPECT_THAT(found(identity_of("h100-half-upgraded"), true), IsEmpty());
  auto busy = identity_of("host");
  for (auto& field : busy.fields)
    if (field.key == "other_load") field.value = std::int64_t{1500};
  EXPECT_EQ(identity::findings_of(busy).size(), 1U);
  EXPECT_THAT(identity::findings_of(busy).front().text, HasSubstr("1.5 on 2 threads"));
}

TEST(Findings, EachSentenceNamesThingReasonAndNextStep) {
  for (const char* name : {"strix-halo-overridden", "mi250x-called-cuda", "hip-on-cpu", "mi250x-imitating-cuda"})
    for (const auto& finding : identity_of(name).findings) {
      EXPECT_THAT(finding.text, HasSubstr(";")) << finding.text;
      EXPECT_EQ(finding.text.find('\n'), std::string::npos);
    }
}

TEST(Environment, EveryRefusingVariableRefusesOnItsPlatform) {
  int refusing = 0;
  for (const auto& rule : identity::environment_rules()) {
    if (rule.finding == identity::EnvironmentFinding::none || rule.finding == identity::EnvironmentFinding::marks)
      continue;
    std::string name(rule.name);
    if (name.back() == '*') name.back() = 'X';
    const char* board = (rule.platforms & static_cast<std::uint8_t>(Platform::nvidia)) != 0 ? "h100" : "mi250x";
    EXPECT_THAT(found(identity_of(board, {name + "=1"}), true), ElementsAre("env." + name));
    ++refusing;
  }
  EXPECT_GE(refusing, 13);
}

TEST(Environment, KeepsTheListedOnesVerbatimAndSortedAndDropsTheRest) {
  const std::vector<std::string> entries{"OMP_NUM_THREADS=2",
                                         "HOME=/root",
                                         "DEBUG_HIP_DYNAMIC_QUEUES=1",
                                         "MALLOC_ARENA_MAX=",
                                         "HSA_SCRATCH_SINGLE_LIMIT= 4 ",
                                         "no equals sign",
                                         "PATHS=OMP_X=1",
                                         "CUDA_VISIBLE_DEVICES=0=1"};
  const auto fields = identity::read_environment(entries, Platform::amd);
  std::vector<std::string> shown;
  for (const auto& field : fields)
    shown.push_back(field.key + "[" + std::string(to_text(field.tier)) + "]=" + identity::text_of(field.value));
  EXPECT_THAT(shown, ElementsAre("env.CUDA_VISIBLE_DEVICES[info]=0=1", "env.DEBUG_HIP_DYNAMIC_QUEUES[change]=1",
                                 "env.HSA_SCRATCH_SINGLE_LIMIT[change]= 4 ",
                                 "env.MALLOC_ARENA_MAX[info]=", "env.OMP_NUM_THREADS[info]=2"));
}

TEST(Environment, AnExactNameBeatsAPrefix) {
  EXPECT_EQ(identity::find_environment_rule("HSA_OVERRIDE_GFX_VERSION")->name, "HSA_OVERRIDE_GFX_VERSION");
  EXPECT_EQ(identity::find_environment_rule("HSA_OVERRIDE_GFX_VERSION_0")->name, "HSA_OVERRIDE_GFX_VERSION_*");
  EXPECT_EQ(identity::find_environment_rule("HSA"), nullptr);
  EXPECT_EQ(identity::find_environment_rule(""), nullptr);
}

class FakeSystem : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("assay-system-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  [[nodiscard]] std::string read(std::string_view key) const {
    for (const auto& field : identity::read_system(root_))
      if (field.key == key) return identity::shown(field);
    return "no such field";
  }
  fs::path root_;
};

TEST_F(FakeSystem, IsReadFromItsFiles) {
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 3000\nmodel name\t: Other\n");
  put("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\n");
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  put("sys/devices/system/cpu/cpufreq/scaling_governor", "not a processor\n");
  put("proc/sys/vm/max_map_count", "65530\n");
  put("etc/machine-id", "0123456789abcdef\n");
  EXPECT_EQ(read("cpu"), "Some CPU 3000");
  EXPECT_EQ(read("os"), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(read("cpuset"), "0-1,4");
  EXPECT_EQ(read("cgroup_memory_bytes"), "1073741824");
  EXPECT_EQ(read("governor"), "performance,powersave");
  EXPECT_EQ(read("map_count_limit"), "65530");
  EXPECT_EQ(read("container"), "none");
  EXPECT_EQ(read("machine_id").size(), 32U);
  EXPECT_EQ(read("machine_id").find("0123456789abcdef"), std::string::npos);
}

TEST_F(FakeSystem, AnEmptyOneIsUnknownWithReasons) {
  for (const char* key : {"cpu", "os", "cpuset", "numa", "governor", "iommu", "cgroup_memory_bytes", "machine_id",
                          "boot_id", "map_count_limit", "container"})
    EXPECT_THAT(read(key), testing::StartsWith("unknown (")) << key;
}

TEST_F(FakeSystem, ContainersAndLimitsOfBothControlGroupVersions) {
  put("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/abc\n");
  put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read("container"), "docker");
  EXPECT_EQ(read("cgroup_memory_bytes"), "-1");
  put("run/systemd/container", "lxc\n");
  EXPECT_EQ(read("container"), "lxc");
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(read("cgroup_memory_bytes"), "-1");
}

TEST(System, ThisMachineAnswersEveryProgramField) {
  std::set<std::string> keys;
  for (const auto& field : identity::read_system()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    const auto* rule = find_rule(field.key);
    ASSERT_NE(rule, nullptr) << field.key;
    EXPECT_EQ(rule->origin, Origin::program) << field.key;
  }
}

TEST(Sha256, AgreesWithPublishedVectors) {
  // FIPS 180-2, appendix B, and the hash of no bytes.
  EXPECT_EQ(*identity::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*identity::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*identity::sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const auto path = fs::path(testing::TempDir()) / ("assay-sha-" + std::to_string(::getpid()));
  const std::string bytes(200'001, 'z');
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(*identity::sha256_file(path), *identity::sha256(bytes));
  fs::remove(path);
  EXPECT_EQ(identity::sha256_file(path).error().code, ErrorCode::bad_input);
  EXPECT_THAT(identity::sha256_file(testing::TempDir()).error().text, HasSubstr("folder"));
}

}  // namespace
}  // namespace assay
