// SPDX-License-Identifier: Apache-2.0
// Finding module files and choosing devices, with a prober of our own in place of child processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "suite/identity/system.hpp"
#include "suite/modules/choose.hpp"

namespace assay::modules {
namespace {

namespace fs = std::filesystem;
using identity::value_field;
using testing::ElementsAre;
using testing::HasSubstr;

class Folders : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("assay-search-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path put(const std::string& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "x";
    return root_ / file;
  }
  fs::path root_;
};

TEST_F(Folders, AreSearchedInOrder) {
  const auto folders = search_folders("/opt/assay/bin/assay", "/a::/b:");
  EXPECT_THAT(folders, ElementsAre("/a", "/b", "/opt/assay/bin", "/opt/assay/lib/assay"));
}

TEST_F(Folders, ModulesAreNamedAfterTheirFilesAndTheFirstOfANameWins) {
  const auto first = put("one/libassay-cuda-13.0.so");
  put("two/libassay-cuda-13.0.so");
  put("two/libassay-cuda-12.4.so");
  put("two/libassay-.so");
  put("two/libassay-hip.so.6");
  put("two/assay-host.so");
  fs::create_directories(root_ / "two" / "libassay-folder.so");
  const auto modules = find_modules({root_ / "nowhere", root_ / "one", root_ / "two"});
  EXPECT_THAT(modules, ElementsAre(ModuleFile{"cuda-13.0", first.string()},
                                   ModuleFile{"cuda-12.4", (root_ / "two/libassay-cuda-12.4.so").string()}));
}

TEST_F(Folders, ANameResolvesExactlyByPrefixOrByPath) {
  const std::vector<ModuleFile> modules{
      {"cuda-12.4", "/m/a"}, {"cuda-13.0", "/m/b"}, {"hip-6.1", "/m/c"}, {"host", "/m/d"}};
  EXPECT_EQ(resolve("cuda-13.0", modules, {})->path, "/m/b");
  EXPECT_EQ(resolve("hip", modules, {})->name, "hip-6.1");
  const auto ambiguous = resolve("cuda", modules, {});
  EXPECT_EQ(ambiguous.error().code, ErrorCode::usage);
  EXPECT_THAT(ambiguous.error().text, HasSubstr("cuda-12.4 and cuda-13.0"));
  const auto missing = resolve("cud", modules, {"/x", "/y"});
  EXPECT_EQ(missing.error().code, ErrorCode::no_device);
  EXPECT_THAT(missing.error().text, HasSubstr("libassay-cud.so in /x and /y"));
  const auto file = put("libassay-cuda-dev.so");
  EXPECT_EQ(resolve(file.string(), modules, {})->name, "cuda-dev");
  EXPECT_EQ(resolve("/nowhere/libassay-x.so", modules, {}).error().code, ErrorCode::no_device);
}

// A machine: what each module would answer.
class Machine {
 public:
  Machine& module(const std::string& name, const std::string& platform, int devices, const std::string& why = "") {
    ModuleProbe probe;
    probe.module = {name, "/m/" + name};
    probe.description = {value_field("platform", platform, "test")};
    probe.device_count = devices;
    if (!why.empty()) probe.no_device = Error{ErrorCode::no_device, why};
    for (int ordinal = 0; ordinal < devices; ++ordinal)
      probe.devices.push_back(
          {ordinal, std::nullopt, {value_field("uuid", platform + ":GPU-0000000" + std::to_string(ordinal), "test")}});
    installed_.modules.push_back(probe.module);
    probes_[probe.module.path] = probe;
    return *this;
  }
  Machine& broken(const std::string& name, ErrorCode code, const std::string& why) {
    module(name, "", 0);
    probes_["/m/" + name].problem = Error{code, why};
    return *this;
  }
  Result<std::vector<ChosenDevice>> choose(const DeviceRequest& request) {
    return choose_devices(request, installed_, [&](const ProbeRequest& asked) {
      ++asked_;
      auto probe = probes_.at(asked.module.path);
      if (asked.depth == Depth::module) probe.devices.clear();
      return probe;
    });
  }
  std::vector<std::string> names(const DeviceRequest& request) {
    const auto devices = choose(request);
    if (!devices) return {devices.error().text};
    std::vector<std::string> out;
    for (const auto& device : *devices) out.push_back(device.planned.name);
    return out;
  }
  int asked_ = 0;

 private:
  Installed installed_{{}, {"/m"}};
  std::map<std::string, ModuleProbe> probes_;
};

TEST(Choose, TheDefaultIsTheOnlyGpuBackendThatAnswers) {
  Machine machine;
  machine.module("cuda", "nvidia", 2).module("hip", "amd", 0, "no driver").module("host", "cpu", 2);
  const auto devices = machine.choose({});
  ASSERT_TRUE(devices) << devices.error().text;
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().planned, (PlannedDevice{"cuda:0", "cuda", "/m/cuda", 0, {}}));
  EXPECT_EQ(devices->front().platform, Platform::nvidia);
}

TEST(Choose, TheHostNeverStepsIn) {
  Machine machine;
  machine.module("cuda", "nvidia", 0, "no NVIDIA driver is loaded").module("host", "cpu", 2);
  const auto devices = machine.choose({});
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::no_device);
  EXPECT_EQ(devices.error().text,
            "no GPU answers (cuda: no NVIDIA driver is loaded); name --backend host to measure the CPU instead");
  Machine bare;
  bare.module("host", "cpu", 2);
  EXPECT_THAT(bare.choose({}).error().text, HasSubstr("no GPU module is installed in /m"));
}

TEST(Choose, TwoAnsweringGpuBackendsNeedAChoice) {
  Machine machine;
  machine.module("cuda", "nvidia", 1).module("hip", "amd", 1);
  const auto devices = machine.choose({});
  EXPECT_EQ(devices.error().code, ErrorCode::usage);
  EXPECT_THAT(devices.error().text, HasSubstr("cuda and hip"));
  EXPECT_THAT(machine.names({{}, "hip"}), ElementsAre("hip:0"));
}

TEST(Choose, NamesIndicesAndUuids) {
  Machine machine;
  machine.module("cuda", "nvidia", 2).module("host", "cpu", 2);
  EXPECT_THAT(machine.names({{"cuda:1", "host", "cuda"}, ""}), ElementsAre("cuda:1", "host:0", "cuda:0"));
  EXPECT_THAT(machine.names({{"cuda:nvidia:GPU-00000001"}, ""}), ElementsAre("cuda:1"));
  EXPECT_THAT(machine.names({{"cuda:GPU-00000001"}, ""}), ElementsAre("cuda:1"));
  EXPECT_EQ(machine.choose({{"cuda:GPU-0000"}, ""}).error().code, ErrorCode::usage);  // begins both
  EXPECT_EQ(machine.choose({{"cuda:GPU-77777777"}, ""}).error().code, ErrorCode::no_device);
  EXPECT_EQ(machine.choose({{"cuda:2"}, ""}).error().code, ErrorCode::no_device);
  EXPECT_THAT(machine.choose({{"cuda:2"}, ""}).error().text, HasSubstr("has 2 devices"));
}

TEST(Choose, OnlyTheNamedModuleIsAsked) {
  Machine machine;
  machine.module("cuda", "nvidia", 1).module("hip", "amd", 1).module("host", "cpu", 2);
  EXPECT_THAT(machine.names({{"host:1"}, ""}), ElementsAre("host:1"));
  EXPECT_EQ(machine.asked_, 1);
}

TEST(Choose, AllMeansEveryBoardAndNoBoardTwice) {
  Machine machine;
  machine.module("cuda", "nvidia", 2).module("hip", "amd", 1).module("host", "cpu", 2);
  EXPECT_THAT(machine.names({{"all"}, ""}), ElementsAre("cuda:0", "cuda:1", "hip:0"));
  EXPECT_EQ(machine.choose({{"all", "cuda:1"}, ""}).error().code, ErrorCode::usage);
  machine.module("cuda-13.0", "nvidia", 2);
  EXPECT_THAT(machine.choose({{"all"}, ""}).error().text, HasSubstr("the same boards"));
}

TEST(Choose, RefusesWhatMeansNothing) {
  Machine machine;
  machine.module("host", "cpu", 2);
  for (const char* word : {":0", "host:", ""})
    EXPECT_EQ(machine.choose({{word}, ""}).error().code, ErrorCode::usage) << word;
  EXPECT_EQ(machine.choose({{"host"}, "host"}).error().code, ErrorCode::usage);
  EXPECT_EQ(machine.choose({{}, "host:1"}).error().code, ErrorCode::usage);
  EXPECT_EQ(machine.choose({{"host:0", "host"}, ""}).error().code, ErrorCode::usage);
  EXPECT_EQ(machine.choose({{"host:-1"}, ""}).error().code, ErrorCode::no_device);
  EXPECT_EQ(machine.choose({{"vulkan"}, ""}).error().code, ErrorCode::no_device);
}

TEST(Choose, ABrokenModuleSaysSoWhenNamedAndIsPassedOverWhenNot) {
  Machine machine;
  machine.broken("cuda-old", ErrorCode::bad_input, "version 7 of the device table").module("hip", "amd", 1);
  EXPECT_EQ(machine.choose({{}, "cuda-old"}).error().code, ErrorCode::bad_input);
  EXPECT_THAT(machine.names({}), ElementsAre("hip:0"));
}

TEST(Choose, AnInterruptEndsTheSearch) {
  Machine machine;
  machine.broken("cuda", ErrorCode::interrupted, "interrupted").module("hip", "amd", 1);
  EXPECT_EQ(machine.choose({}).error().code, ErrorCode::interrupted);
}

TEST(MeansUuid, NeedsTheWholeOrEnoughOfIt) {
  EXPECT_TRUE(means_uuid("nvidia:GPU-12345678-9", "nvidia:GPU-12345678-9"));
  EXPECT_TRUE(means_uuid("GPU-12345678-9", "nvidia:GPU-12345678-9"));
  EXPECT_TRUE(means_uuid("GPU-1234", "nvidia:GPU-12345678-9"));
  EXPECT_FALSE(means_uuid("GPU-123", "nvidia:GPU-12345678-9"));
  EXPECT_FALSE(means_uuid("12345678", "nvidia:GPU-12345678-9"));
}

}  // namespace
}  // namespace assay::modules
