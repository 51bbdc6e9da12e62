// SPDX-License-Identifier: Apache-2.0
// Gates on the modules as files: one exported symbol, no unique symbols, both in one process, no device said cleanly.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "tests/gates/gate.hpp"

namespace assay::test {
namespace {

std::vector<std::string> exported_symbols(const std::string& path) {
  const std::string command = "nm -D --defined-only '" + path + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::vector<std::string> symbols;
  std::array<char, 4096> line{};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::istringstream words(line.data());
    std::string address, kind, symbol;
    words >> address >> kind >> symbol;
    symbols.push_back(symbol);
  }
  return symbols;
}

// What the module said of itself, by key.
using Fields = std::map<std::string, std::string>;
void collect(void* context, const assay_field* field) {
  auto& fields = *static_cast<Fields*>(context);
  EXPECT_EQ(fields.count(field->key), 0U) << field->key << " is stated twice";
  fields[field->key] = field->state == ASSAY_FIELD_VALUE ? field->text : std::string("-") + field->text;
  EXPECT_STRNE(field->source, "");
  if (field->state != ASSAY_FIELD_VALUE) {
    EXPECT_STRNE(field->text, "") << field->key << " has no reason";
  }
}

// In a process of its own, so that the order is really this one.
int exit_code_after_loading(const char* first, const char* second) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    for (const char* name : {first, second}) {
      const assay_backend* table = load_module(name);
      std::int32_t count = 0;
      if (table == nullptr) _exit(1);
      const assay_status status = table->device_count(&count);
      if (status != ASSAY_OK && status != ASSAY_NO_DEVICE) code = 2;
      Fields fields;
      if (table->describe(&collect, &fields) != ASSAY_OK || fields["backend"] != name) code = 3;
    }
    _exit(testing::Test::HasFailure() ? 4 : code);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// First in this file: the child must not inherit a module that an earlier test loaded.
TEST(EitherOrder, BothModulesLoadInOneProcess) {
  ASSAY_NEED_MODULE("cuda");
  ASSAY_NEED_MODULE("hip");
  EXPECT_EQ(exit_code_after_loading("cuda", "hip"), 0);
  EXPECT_EQ(exit_code_after_loading("hip", "cuda"), 0);
}

class GpuModule : public testing::TestWithParam<const char*> {};

TEST_P(GpuModule, ExportsExactlyOneSymbol) {
  ASSAY_NEED_MODULE(GetParam());
  EXPECT_EQ(exported_symbols(module_path(GetParam())), std::vector<std::string>{ASSAY_ENTRY_SYMBOL});
}

TEST_P(GpuModule, HasACompleteTableOfThisVersion) {
  ASSAY_NEED_MODULE(GetParam());
  const assay_backend* table = load_module(GetParam());
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->size, sizeof(assay_backend));
  EXPECT_EQ(table->abi_version, ASSAY_ABI_VERSION);
  // Every entry behind the two numbers is a pointer.
  std::vector<void*> entries((sizeof(assay_backend) - 8) / sizeof(void*));
  std::memcpy(entries.data(), reinterpret_cast<const char*>(table) + 8, entries.size() * sizeof(void*));
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_NE(entries[i], nullptr) << "entry " << i;
}

TEST_P(GpuModule, DescribesItselfAndItsKernelsWithoutADevice) {
  ASSAY_NEED_MODULE(GetParam());
  const assay_backend* table = load_module(GetParam());
  ASSERT_NE(table, nullptr);
  Fields fields;
  ASSERT_EQ(table->describe(&collect, &fields), ASSAY_OK) << table->last_error();
  EXPECT_EQ(fields["backend"], GetParam());
  EXPECT_EQ(fields["platform"], std::string(GetParam()) == "cuda" ? "nvidia" : "amd");
  for (const char* key :
       {"toolkit_compiled", "compiler", "compiler_flags", "fp_flags", "embedded_targets", "runtime_path"})
    EXPECT_FALSE(fields[key].empty()) << key;
  std::int32_t count = 0;
  ASSERT_EQ(table->kernel_count(&count), ASSAY_OK);
  ASSERT_GT(count, 0);
  for (std::int32_t i = 0; i < count; ++i) {
    assay_kernel_info info{};
    ASSERT_EQ(table->kernel_info(i, &info), ASSAY_OK);
    EXPECT_GT(info.params_bytes, 0U);
    EXPECT_GT(info.source_version, 0);
  }
}

TEST_P(GpuModule, AnswersWithADeviceOrSaysCleanlyThatThereIsNone) {
  ASSAY_NEED_MODULE(GetParam());
  const assay_backend* table = load_module(GetParam());
  ASSERT_NE(table, nullptr);
  std::int32_t count = -7;
  const assay_status status = table->device_count(&count);
  if (status == ASSAY_OK) {
    EXPECT_GT(count, 0);
    GTEST_SKIP() << count << " device(s) answer here; the contract suite drives them";
  }
  EXPECT_EQ(status, ASSAY_NO_DEVICE) << table->last_error();
  EXPECT_EQ(count, 0);
  EXPECT_STRNE(table->last_error(), "");
  assay_device* device = nullptr;
  EXPECT_EQ(table->device_open(0, nullptr, 0, &device), ASSAY_NO_DEVICE);
  EXPECT_EQ(device, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Modules, GpuModule, testing::Values("cuda", "hip"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace assay::test
