// SPDX-License-Identifier: Apache-2.0
// Probing a real module file in a real child process: what it says, and what becomes of one that crashes or hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "suite/modules/identify.hpp"
#include "suite/modules/probe.hpp"
#include "suite/modules/probe_lines.hpp"
#include "tests/support/canned.hpp"

namespace assay::modules {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string program() {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/assay";
}

ModuleProbe probe(const std::string& situation, Depth depth = Depth::module, ProbeLimits limits = {}) {
  ::setenv("ASSAY_CANNED", situation.c_str(), 1);
  return probe_module(program(), {{"canned", canned::module_path()}, depth, 0, {}}, limits);
}

TEST(Probe, BringsBackWhatTheModuleStates) {
  const auto result = probe("h100", Depth::all_devices);
  ASSERT_FALSE(result.problem) << result.problem->text;
  EXPECT_EQ(result.described("platform"), "nvidia");
  EXPECT_EQ(result.device_count, 1);
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_FALSE(result.devices.front().problem);
  // Every field survives the way between the processes.
  auto fields = result.description;
  fields.insert(fields.end(), result.devices.front().fields.begin(), result.devices.front().fields.end());
  EXPECT_EQ(fields, canned::stated("h100"));
}

TEST(Probe, UnknownFieldsKeepTheirReasons) {
  const auto result = probe("h100-no-nvml", Depth::one_device);
  ASSERT_EQ(result.devices.size(), 1U);
  for (const auto& field : result.devices.front().fields)
    if (field.key == "ecc") {
      EXPECT_EQ(field.state, FieldState::unknown);
      EXPECT_EQ(field.reason, "NVML is not there");
    }
}

TEST(Probe, SaysWhyThereIsNoDevice) {
  const auto result = probe("no-device", Depth::all_devices);
  ASSERT_FALSE(result.problem) << result.problem->text;
  EXPECT_EQ(result.device_count, 0);
  ASSERT_TRUE(result.no_device);
  EXPECT_EQ(result.no_device->code, ErrorCode::no_device);
  EXPECT_THAT(result.no_device->text, HasSubstr("no driver is loaded"));
}

TEST(Probe, ACrashIsReportedWithWhatWasBeingDone) {
  const auto loading = probe("crash");
  ASSERT_TRUE(loading.problem);
  EXPECT_EQ(loading.problem->code, ErrorCode::no_device);
  EXPECT_THAT(loading.problem->text, HasSubstr("crashed while loading (signal 6"));
  const auto opening = probe("device-crash", Depth::all_devices);
  ASSERT_TRUE(opening.problem);
  EXPECT_THAT(opening.problem->text, HasSubstr("crashed while opening device 0"));
  EXPECT_EQ(opening.described("platform"), "nvidia");  // what was said before is kept
}

TEST(Probe, AHangIsStoppedAtTheLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = probe("hang", Depth::module, {std::chrono::milliseconds(1000), std::chrono::milliseconds(1000)});
  ASSERT_TRUE(result.problem);
  EXPECT_THAT(result.problem->text, HasSubstr("did not answer within 1 s while loading"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST(Probe, AModuleThatEndsTheProcessIsReported) {
  const auto result = probe("exit");
  ASSERT_TRUE(result.problem);
  EXPECT_THAT(result.problem->text, HasSubstr("ended the process with exit code 9 while loading"));
}

TEST(Probe, AnotherVersionOfTheTableIsBadInput) {
  const auto result = probe("other-version");
  ASSERT_TRUE(result.problem);
  EXPECT_EQ(result.problem->code, ErrorCode::bad_input);
  EXPECT_THAT(result.problem->text, HasSubstr("version"));
}

TEST(Probe, WhatIsNoModuleIsRefused) {
  const auto path = fs::path(testing::TempDir()) / ("libassay-text-" + std::to_string(::getpid()) + ".so");
  std::ofstream(path) << "not a library";
  const auto text = probe_module(program(), {{"text", path.string()}, Depth::module, 0, {}});
  ASSERT_TRUE(text.problem);
  EXPECT_EQ(text.problem->code, ErrorCode::no_device);
  fs::remove(path);
  const auto nothing = probe_module(program(), {{"text", path.string()}, Depth::module, 0, {}});
  ASSERT_TRUE(nothing.problem);
  EXPECT_EQ(nothing.problem->code, ErrorCode::no_device);
}

TEST(ProbeLines, ForeignLinesAreLeftOut) {
  ModuleProbe result;
  Progress progress;
  for (const char* line : {"", "driver banner", "[1]", "{}", "{\"count\":\"many\"}", "{\"loaded\":[{}]}",
                           "{\"problem\":3}", "{\"count\":1", "{\"device\":0}"})
    EXPECT_FALSE(take_line(line, result, progress)) << line;
  EXPECT_FALSE(progress.done);
  EXPECT_EQ(result.device_count, 0);
}

TEST(Identify, JoinsModuleSystemAndHashes) {
  ::setenv("ASSAY_CANNED", "h100", 1);
  const PlannedDevice device{"canned:0", "canned", canned::module_path(), 0, {}};
  const auto identity =
      identify(device, {"0.1.0", "abc", true, "caching", "max_split_size_mb:64"}, child_prober(program()));
  ASSERT_TRUE(identity) << identity.error().text;
  EXPECT_EQ(identity::text_value(*identity, "arch"), "sm_90");
  EXPECT_EQ(identity::text_value(*identity, "suite_commit"), "abc modified");
  EXPECT_EQ(identity::text_value(*identity, "allocator_policy"), "caching");
  EXPECT_EQ(identity::text_value(*identity, "module_sha256").value_or("").size(), 64U);
  EXPECT_EQ(identity->find("runtime_sha256")->state, FieldState::unknown);  // its file is not on this machine
  EXPECT_THAT(identity->find("runtime_sha256")->reason, HasSubstr("/opt/assay/libassay-cuda.so"));
}

TEST(Identify, SensorsThatMarkAreReadAndTheOthersAreNoIdentity) {
  ::setenv("ASSAY_CANNED", "h100-throttled", 1);
  const auto identity = identify({"canned:0", "canned", canned::module_path(), 0, {}}, {}, child_prober(program()));
  ASSERT_TRUE(identity) << identity.error().text;
  EXPECT_EQ(identity::text_value(*identity, "throttle_reasons"), "thermal");
  EXPECT_EQ(identity::integer_value(*identity, "other_processes"), 2);
  EXPECT_EQ(identity->find("temperature_celsius"), nullptr);
  EXPECT_EQ(identity->findings.size(), 2U);
  for (const auto& finding : identity->findings) EXPECT_FALSE(finding.refuses) << finding.text;
}

TEST(Identify, AMissingOrdinalIsNoDevice) {
  ::setenv("ASSAY_CANNED", "h100", 1);
  const auto identity = identify({"canned:3", "canned", canned::module_path(), 3, {}}, {}, child_prober(program()));
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code, ErrorCode::no_device);
}

}  // namespace
}  // namespace assay::modules
