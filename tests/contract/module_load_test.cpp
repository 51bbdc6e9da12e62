// SPDX-License-Identifier: Apache-2.0
// Loading what is no module: one sentence with the reason and the right code, and the program goes on.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/device/device.hpp"
#include "tests/support/scenario.hpp"

namespace assay::contract {
namespace {

std::string wrong_module(const std::string& name) {
  const char* folder = std::getenv("ASSAY_TEST_MODULES");
  return std::string(folder != nullptr ? folder : "") + "/" + name;
}

void expect_refused(const std::string& path, ErrorCode code, const std::vector<std::string>& words) {
  const auto module = device::Module::load(path);
  ASSERT_FALSE(module) << path;
  EXPECT_EQ(module.error().code, code) << module.error().text;
  EXPECT_NE(module.error().text.find(path), std::string::npos) << module.error().text;
  EXPECT_EQ(module.error().text.find('\n'), std::string::npos) << module.error().text;
  for (const auto& word : words) EXPECT_NE(module.error().text.find(word), std::string::npos) << module.error().text;
}

TEST(ModuleLoad, AMissingFileIsNamed) {
  expect_refused("/nowhere/libassay-none.so", ErrorCode::no_device, {"is not there"});
  expect_refused("libassay-none.so", ErrorCode::no_device, {"is not there"});
}

TEST(ModuleLoad, AFolderIsNoModule) {
  expect_refused("/", ErrorCode::no_device, {"folder"});
}

TEST(ModuleLoad, TextAndEmptyFilesDoNotLoad) {
  expect_refused(wrong_module("libassay-garbage.so"), ErrorCode::no_device, {"does not load"});
  expect_refused(wrong_module("libassay-empty.so"), ErrorCode::no_device, {"does not load"});
}

TEST(ModuleLoad, AnUnresolvedSymbolIsFoundAtOnce) {
  expect_refused(wrong_module("libassay-wrong_unresolved.so"), ErrorCode::no_device, {"assay_no_library_defines_this"});
}

TEST(ModuleLoad, ALibraryWithoutTheSymbolIsNoModule) {
  expect_refused(wrong_module("libassay-wrong_no_entry.so"), ErrorCode::bad_input, {ASSAY_ENTRY_SYMBOL});
}

TEST(ModuleLoad, AnotherVersionIsRefusedWithBothNumbers) {
  expect_refused(wrong_module("libassay-wrong_version.so"), ErrorCode::bad_input,
                 {"version " + std::to_string(ASSAY_ABI_VERSION + 1), "version " + std::to_string(ASSAY_ABI_VERSION)});
}

TEST(ModuleLoad, ASmallerTableIsRefusedWithBothSizes) {
  expect_refused(wrong_module("libassay-wrong_size.so"), ErrorCode::bad_input,
                 {std::to_string(offsetof(assay_backend, graph_begin)), std::to_string(sizeof(assay_backend))});
}

TEST(ModuleLoad, NoTableIsRefused) {
  expect_refused(wrong_module("libassay-wrong_null.so"), ErrorCode::bad_input, {"no table"});
}

TEST(ModuleLoad, ALargerTableOfANewerModuleIsFine) {
  assay_backend newer{};
  newer.size = sizeof(assay_backend) + 64;
  newer.abi_version = ASSAY_ABI_VERSION;
  EXPECT_TRUE(device::Module::wrap(&newer));
  EXPECT_FALSE(device::Module::wrap(nullptr));
}

TEST(ModuleLoad, LoadedTwiceItIsTheSameModule) {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  const std::string path = std::string(folder != nullptr ? folder : "") + "/libassay-host.so";
  const auto first = device::Module::load(path);
  const auto second = device::Module::load(path);
  ASSERT_TRUE(first) << first.error().text;
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ(&first->table(), &second->table());
  EXPECT_EQ(first->path(), path);
}

TEST(ScenarioOfLoading, Aborts) {
  if (support::current_scenario().empty()) GTEST_SKIP() << "runs only as a child of other tests";
  static_cast<void>(device::Module::load(wrong_module("libassay-wrong_abort.so")));
}

TEST(ModuleLoad, AModuleThatAbortsWhileLoadingEndsOnlyAChild) {
  const auto end = support::run_scenario("ScenarioOfLoading.Aborts", "abort", std::chrono::seconds(60));
  EXPECT_FALSE(end.timed_out);
  EXPECT_NE(end.exit_code, 0);
}

}  // namespace
}  // namespace assay::contract
