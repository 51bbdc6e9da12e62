// SPDX-License-Identifier: Apache-2.0
// Every kernel and storage type against its fp64 reference, in every mode of the CPU executor.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/kernels_support.hpp"

namespace assay::check {
namespace {

struct Mode {
  std::string name;
  host::ExecutorOptions options;
};

// Thread sanitizer makes a switch of fibres a hundred times slower; there the fibres run the quick cases.
#if defined(ASSAY_TSAN)
constexpr Depth kFibreDepth = Depth::quick;
#else
constexpr Depth kFibreDepth = Depth::full;
#endif

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {
      {"serial", {1, 0, 0}},           {"serial_one_cpu", {1, 1, 0}},     {"wave32", {32, 0, 0}},
      {"wave64", {64, 0, 0}},          {"wave32_block1", {32, 0, 1}},     {"wave32_block33", {32, 0, 33}},
      {"wave64_block50", {64, 0, 50}}, {"wave64_block128", {64, 0, 128}},
  };
  return all;
}

class EveryKernel : public testing::TestWithParam<std::tuple<std::string, std::size_t, std::size_t>> {};

TEST_P(EveryKernel, IsWithinToleranceOfItsReference) {
  const auto& [kernel, mode_index, build_index] = GetParam();
  const host::KernelBuild& build = host::kernel_builds()[build_index];
  if (!host::cpu_runs(build)) GTEST_SKIP() << "this CPU cannot execute " << build.isa;
  const Mode& mode = modes()[mode_index];
  // Blocks of one thread or of odd sizes repeat work by design; the quick cases are enough for them.
  const bool plain = mode.options.block == 0;
  const Depth depth = mode.options.wave == 1 ? Depth::full : plain ? kFibreDepth : Depth::quick;
  const Launch launch = executor_launch(build, host::Executor(mode.options));
  // Thousands of rows as fibres: one wave a block instead of eight, to stay within a second.
  const Launch narrow =
      executor_launch(build, host::Executor({mode.options.wave, 0, mode.options.wave == 1 ? 0 : mode.options.wave}));
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    const std::vector<Case> cases = cases_of(kernel, dtype, depth, 20240229);
    ASSERT_FALSE(cases.empty());
    for (const Case& the_case : cases) {
      const bool many_rows = the_case.name.find("s=7133") != std::string::npos;
      const assay::Case result = run_case(the_case, 1, plain && many_rows ? narrow : launch);
      EXPECT_EQ(result.status, CaseStatus::ok)
          << result.name << ": " << result.message << ", error "
          << (result.error.has_value() ? std::get<double>(result.error.value) : -1) << ", tolerance "
          << (result.tolerance.has_value() ? std::get<double>(result.tolerance.value) : -1);
    }
  }
}

std::vector<std::string> kernel_names() {
  std::set<std::string> names;
  for (const auto& entry : host::kernel_builds().front().table) names.insert(entry.name);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel,
                         testing::Combine(testing::ValuesIn(kernel_names()),
                                          testing::Range(std::size_t{0}, modes().size()),
                                          testing::Range(std::size_t{0}, host::kernel_builds().size())),
                         [](const auto& of) {
                           return std::get<0>(of.param) + "_" + modes()[std::get<1>(of.param)].name + "_build" +
                                  std::to_string(std::get<2>(of.param));
                         });

TEST(KernelTable, HoldsThirteenKernelsInThreeStorageTypes) {
  EXPECT_EQ(kernel_names().size(), 13u);
  EXPECT_EQ(host::kernel_builds().front().table.size(), 39u);
}

// Bytes of the outputs after one run.
std::vector<Bytes> outputs(const Case& the_case, const Launch& launch) {
  std::vector<Bytes> images;
  for (const Buffer& buffer : the_case.buffers) {
    Bytes image(buffer.before.size() + 2 * kGuardBytes);
    std::copy(buffer.before.begin(), buffer.before.end(), image.begin() + kGuardBytes);
    images.push_back(std::move(image));
  }
  EXPECT_TRUE(launch(the_case, images).has_value());
  return images;
}

TEST(Kernels, GiveTheSameBitsEveryTimeAndForAnyNumberOfCpuThreads) {
  const host::KernelBuild& build = host::kernel_build();
  const Launch one = executor_launch(build, host::Executor({1, 1, 0}));
  const Launch three = executor_launch(build, host::Executor({1, 3, 0}));
  const Launch wave = executor_launch(build, host::Executor({32, 0, 0}));
  for (const std::string& kernel : kernel_names()) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      for (const Case& the_case : cases_of(kernel, dtype, Depth::quick, 7)) {
        EXPECT_EQ(outputs(the_case, one), outputs(the_case, three)) << the_case.name;
        EXPECT_EQ(outputs(the_case, wave), outputs(the_case, wave)) << the_case.name;
      }
    }
  }
}

}  // namespace
}  // namespace assay::check
