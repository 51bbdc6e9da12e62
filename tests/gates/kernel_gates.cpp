// SPDX-License-Identifier: Apache-2.0
// Gates on the kernels as compiled: none spills, none uses local memory, none is missing for any target.
#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/gates/gate.hpp"
#include "tests/gates/kernel_log.hpp"

namespace assay::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// Targets with machine code in the module: its list without PTX.
std::vector<std::string> machine_targets(const assay_backend& table) {
  std::string list;
  const auto find = [](void* context, const assay_field* field) {
    if (std::string(field->key) == "embedded_targets") *static_cast<std::string*>(context) = field->text;
  };
  EXPECT_EQ(table.describe(find, &list), ASSAY_OK);
  std::vector<std::string> targets;
  std::istringstream names(list);
  std::string name;
  while (std::getline(names, name, ','))
    if (name.rfind("compute_", 0) != 0) targets.push_back(name);
  return targets;
}

void expect_clean(const std::string& module, const std::vector<KernelFigures>& kernels,
                  const std::vector<std::string>& must_have_targets) {
  const assay_backend* table = load_module(module);
  ASSERT_NE(table, nullptr);
  std::int32_t count = 0;
  ASSERT_EQ(table->kernel_count(&count), ASSAY_OK);
  const auto targets = machine_targets(*table);
  EXPECT_EQ(targets, must_have_targets);
  ASSERT_FALSE(kernels.empty()) << "the compiler's log names no kernel at all";
  EXPECT_EQ(kernels.size(), static_cast<std::size_t>(count) * targets.size())
      << "the module lists " << count << " kernels for " << targets.size() << " targets";
  for (const auto& sentence : complaints(kernels)) ADD_FAILURE() << sentence;
  long registers = 0;
  for (const auto& kernel : kernels) registers = std::max(registers, kernel.registers);
  testing::Test::RecordProperty("kernels", static_cast<int>(kernels.size()));
  testing::Test::RecordProperty("most_registers", static_cast<int>(registers));
}

TEST(CudaKernels, NeitherSpillNorUseLocalMemory) {
  ASSAY_NEED_MODULE("cuda");
  expect_clean("cuda", parse_ptxas(read_file(environment("ASSAY_CUDA_LOG"))), {"sm_80", "sm_90"});
}

TEST(HipKernels, NeitherSpillNorUseScratch) {
  ASSAY_NEED_MODULE("hip");
  expect_clean("hip", parse_resource_remarks(read_file(environment("ASSAY_HIP_LOG"))), {"gfx90a", "gfx1030"});
}

// The gates can fail: on a spill, on scratch, on a log without figures, on an empty log.
TEST(KernelLog, AComplaintForEachThingThatIsWrong) {
  const std::string good =
      "ptxas info    : Compiling entry function '_Z1av' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1av\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers, 392 bytes cmem[0]\n";
  ASSERT_EQ(parse_ptxas(good).size(), 1U);
  EXPECT_EQ(parse_ptxas(good)[0].registers, 10);
  EXPECT_TRUE(complaints(parse_ptxas(good)).empty());
  const std::string spills = std::regex_replace(good, std::regex("0 bytes spill stores"), "8 bytes spill stores");
  EXPECT_EQ(complaints(parse_ptxas(spills)).size(), 1U);
  const std::string stack = std::regex_replace(good, std::regex("0 bytes stack"), "16 bytes stack");
  EXPECT_EQ(complaints(parse_ptxas(stack)).size(), 1U);
  EXPECT_EQ(complaints(parse_ptxas("Compiling entry function '_Z1av' for 'sm_80'\n")).size(), 1U);
  EXPECT_TRUE(parse_ptxas("").empty());

  const std::string remarks =
      "a.cpp:1:1: remark: Function Name: _Z1av [-Rpass-analysis=kernel-resource-usage]\n"
      "a.cpp:1:1: remark:     VGPRs: 7 [-Rpass-analysis=kernel-resource-usage]\n"
      "a.cpp:1:1: remark:     ScratchSize [bytes/lane]: 0 [-Rpass-analysis=kernel-resource-usage]\n"
      "a.cpp:1:1: remark:     SGPRs Spill: 0 [-Rpass-analysis=kernel-resource-usage]\n"
      "a.cpp:1:1: remark:     VGPRs Spill: 0 [-Rpass-analysis=kernel-resource-usage]\n";
  ASSERT_EQ(parse_resource_remarks(remarks).size(), 1U);
  EXPECT_TRUE(complaints(parse_resource_remarks(remarks)).empty());
  EXPECT_EQ(
      complaints(parse_resource_remarks(std::regex_replace(remarks, std::regex("VGPRs Spill: 0"), "VGPRs Spill: 3")))
          .size(),
      1U);
  EXPECT_EQ(
      complaints(parse_resource_remarks(std::regex_replace(remarks, std::regex("lane\\]: 0"), "lane]: 64"))).size(),
      1U);
  EXPECT_TRUE(parse_resource_remarks("").empty());
}

}  // namespace
}  // namespace assay::test
