// SPDX-License-Identifier: Apache-2.0
// assay report --account on real runs: lines that add up to the byte, and the estimate that equals what was requested.
#include <map>
#include <sstream>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

using Lines = std::map<std::string, std::int64_t>;

// The tables of the page, by checkpoint.
std::map<std::string, Lines> tables_of(const std::string& page) {
  std::map<std::string, Lines> out;
  std::string checkpoint;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(":end, launch"); at != std::string::npos) checkpoint = line.substr(2, at - 2);
    const auto number = line.find_last_of(' ');
    if (checkpoint.empty() || line.rfind("    ", 0) != 0 || number + 1 >= line.size()) continue;
    if (line.find_first_not_of("-0123456789", number + 1) != std::string::npos) continue;
    const auto end = line.find_last_not_of(' ', number);
    out[checkpoint][line.substr(4, end - 3)] = std::stoll(line.substr(number + 1));
  }
  return out;
}

// Expected bytes by hand, of decoder-tiny: hidden 48, feed-forward 80, 3 layers, 2 KV heads of 8, vocabulary 97,
// untied. Elements of a layer: 2 x 48 x 48 + 2 x 48 x 16 + 3 x 48 x 80 + 2 x 48 = 17760; 3 layers, 2 x 97 x 48 and a
// norm of 48 make 62640. The cache holds 2 x 3 x 16 = 96 elements a token.
struct Configuration {
  const char* name;
  const char* arguments;
  std::int64_t weights;
  std::int64_t kv_after_prefill;
};
constexpr Configuration kConfigurations[] = {
    {"static_cache", "--kv static --prompt 8 --decode 2", 62640 * 4, 96 * 10 * 4},
    {"growing_cache", "--kv growing --prompt 8 --decode 2", 62640 * 4, 96 * 8 * 4},
    {"half_precision", "--kv static --prompt 8 --decode 2 --dtype f16", 62640 * 2, 96 * 10 * 2},
    {"batch", "--kv static --prompt 8 --decode 2 --batch 3", 62640 * 4, 96 * 10 * 4 * 3},
    {"growing_batch", "--kv growing --prompt 5 --decode 3 --batch 2 --dtype bf16", 62640 * 2, 96 * 5 * 2 * 2},
};

class Account : public Program, public ::testing::WithParamInterface<Configuration> {};

TEST_P(Account, AddsUpAndMeetsTheEstimate) {
  const auto ran =
      run("run --backend host --model decoder-tiny --repeats 1 -o r.json " + std::string(GetParam().arguments));
  ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
  const auto page = run("report --account r.json");
  ASSERT_EQ(page.exit, 0) << page.err;
  const auto tables = tables_of(page.out);
  for (const char* phase : {"environment", "model_load", "inputs", "prefill", "decode"})
    ASSERT_EQ(tables.count(phase), 1U) << phase << '\n' << page.out;
  for (const auto& [phase, lines] : tables) {
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : lines)
      if (name != "= device used" && name != "estimated live request") sum += bytes;
    EXPECT_EQ(sum, lines.at("= device used")) << phase;
    EXPECT_EQ(lines.at("unexplained"), 0) << phase;
    EXPECT_EQ(lines.at("estimated live request"), lines.at("weights") + lines.at("inputs") + lines.at("KV cache") +
                                                      lines.at("activations") + lines.at("workspace") +
                                                      lines.at("output"))
        << phase << '\n'
        << page.out;
  }
  EXPECT_EQ(tables.at("model_load").at("weights"), GetParam().weights);
  EXPECT_EQ(tables.at("prefill").at("KV cache"), GetParam().kv_after_prefill);
}

INSTANTIATE_TEST_SUITE_P(Cli, Account, ::testing::ValuesIn(kConfigurations),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace assay::testing_cli
