// SPDX-License-Identifier: Apache-2.0
// The host module's modes against each other: real block shapes of 32 and of 64 lanes a wave leave what one thread a
// block leaves, within the error that is stated for each kernel and storage type, on every shape of the checks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "backends/device/device.hpp"
#include "suite/check/check.hpp"

namespace assay::check {
namespace {

// ThreadSanitizer makes a switch of fibres a hundred times slower; there the quick shapes have to do.
#if defined(ASSAY_TSAN)
constexpr bool kFull = false;
#else
constexpr bool kFull = true;
#endif

// One opened device a mode, all of one module.
class Modes {
 public:
  static Modes& get() {
    static Modes modes;
    return modes;
  }
  [[nodiscard]] const device::Module& module() const { return module_; }
  // `block` of 0 leaves the block's size to the module.
  [[nodiscard]] const device::Device& device(std::uint32_t wave, std::uint32_t block) {
    auto found = devices_.find({wave, block});
    if (found == devices_.end()) {
      device::Options options = {{"memory_bytes", "536870912"}, {"wave", std::to_string(wave)}};
      if (block != 0) options.emplace_back("block", std::to_string(block));
      auto opened = device::Device::open(module_, 0, options);
      EXPECT_TRUE(opened) << (opened ? "" : opened.error().text);
      found = devices_.emplace(std::pair(wave, block), std::move(opened).value()).first;
    }
    return found->second;
  }

 private:
  Modes() : module_(load()) {}
  static device::Module load() {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    auto module = device::Module::load(std::string(folder != nullptr ? folder : "") + "/libassay-host.so");
    EXPECT_TRUE(module) << (module ? "" : module.error().text);
    return std::move(module).value();
  }
  device::Module module_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, device::Device> devices_;
};

// What the arrays of a case hold after one run in a mode.
std::vector<Bytes> run(const Case& the_case, std::uint32_t wave) {
  std::vector<Bytes> images;
  for (const Buffer& buffer : the_case.buffers) {
    Bytes image(buffer.before.size() + 2 * kGuardBytes);
    std::copy(buffer.before.begin(), buffer.before.end(), image.begin() + kGuardBytes);
    images.push_back(std::move(image));
  }
  // Thousands of rows as fibres: one wave a block instead of eight, to stay within a second.
  const bool many_rows = the_case.name.find("7133") != std::string::npos;
  auto& modes = Modes::get();
  const auto done =
      device_launch(modes.module(), modes.device(wave, wave > 1 && many_rows ? wave : 0))(the_case, images);
  EXPECT_TRUE(done) << the_case.name << ": " << (done ? "" : done.error().text);
  std::vector<Bytes> after;
  for (const Bytes& image : images) after.emplace_back(image.begin() + kGuardBytes, image.end() - kGuardBytes);
  return after;
}

std::vector<Case> shapes(const std::string& kernel, const std::string& dtype, std::uint64_t seed) {
  std::vector<Case> cases = cases_of(kernel, dtype, Depth::quick, seed);
  if (kFull)
    for (Case& more : cases_of(kernel, dtype, Depth::full, seed + 1)) cases.push_back(std::move(more));
  return cases;
}

std::vector<std::string> kernel_names() {
  std::set<std::string> names;
  const auto kernels = Modes::get().module().kernels();
  EXPECT_TRUE(kernels) << (kernels ? "" : kernels.error().text);
  for (const auto& kernel : *kernels) names.insert(kernel.name);
  return {names.begin(), names.end()};
}

using Subject = std::tuple<std::string, std::string>;

class HostModes : public ::testing::TestWithParam<Subject> {};

TEST_P(HostModes, Wave32AndWave64AgreeWithWave1) {
  const auto& [kernel, dtype] = GetParam();
  const std::vector<Case> cases = shapes(kernel, dtype, 20261130);
  ASSERT_FALSE(cases.empty());
  for (const Case& the_case : cases) {
    const std::vector<Bytes> one = run(the_case, 1);
    for (const std::uint32_t wave : {32u, 64u}) {
      const Verdict verdict = the_case.agree(run(the_case, wave), one);
      EXPECT_TRUE(verdict.correct) << the_case.name << ", wave " << wave << ": difference " << verdict.error
                                   << ", stated error " << verdict.tolerance << ": " << verdict.message;
    }
  }
}

// The comparison can fail: outputs of other inputs, or one element that was never written, do not agree.
TEST_P(HostModes, OutputsOfOtherInputsDoNotAgree) {
  const auto& [kernel, dtype] = GetParam();
  const std::vector<Case> cases = cases_of(kernel, dtype, Depth::quick, 5);
  const std::vector<Case> others = cases_of(kernel, dtype, Depth::quick, 6);
  const Case& the_case = cases.back();
  const std::vector<Bytes> one = run(the_case, 1);
  EXPECT_TRUE(the_case.agree(one, one).correct);
  EXPECT_FALSE(the_case.agree(run(others.back(), 32), one).correct) << the_case.name;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!the_case.buffers[i].written) continue;
    std::vector<Bytes> spoilt = one;
    std::fill(spoilt[i].end() - (dtype == "f32" || kernel == "argmax" ? 4 : 2), spoilt[i].end(), kPoison);
    EXPECT_FALSE(the_case.agree(spoilt, one).correct) << the_case.name << ", array " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HostModes,
                         ::testing::Combine(::testing::ValuesIn(kernel_names()),
                                            ::testing::Values("f32", "f16", "bf16")),
                         [](const auto& of) { return std::get<0>(of.param) + "_" + std::get<1>(of.param); });

}  // namespace
}  // namespace assay::check
