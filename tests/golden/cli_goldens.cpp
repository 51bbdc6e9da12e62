// SPDX-License-Identifier: Apache-2.0
// Help and estimates, byte for byte as they were last agreed; ASSAY_UPDATE_GOLDENS=1 writes them anew.
#include <sstream>

#include "tests/golden/cli_support.hpp"

namespace assay::testing_cli {
namespace {

struct Golden {
  const char* name;
  const char* arguments;
};

constexpr Golden kGoldens[] = {
    {"help", "--help"},
    {"help-backends", "backends --help"},
    {"help-environment", "environment --help"},
    {"help-estimate", "estimate --help"},
    {"help-measure", "measure --help"},
    {"help-run", "run --help"},
    {"help-replay", "replay --help"},
    {"help-duel", "duel --help"},
    {"help-compare", "compare --help"},
    {"help-report", "report --help"},
    {"help-export", "export --help"},
    {"help-validate", "validate --help"},
    {"help-recover", "recover --help"},
    {"estimate-7b", "estimate --parameters 7000000000 --bits 16 --reserve-gib 4"},
    {"estimate-7b-gb", "estimate --parameters 7000000000 --bits 16 --reserve-gb 4"},
    {"estimate-13b", "estimate --parameters 13000000000 --bits 16"},
    {"estimate-kv", "estimate --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192 --bytes-per-element 2"},
    {"estimate-kv4", "estimate --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192 --sequences 4"},
    {"estimate-model", "estimate --model decoder-135m --tokens 2048 --json"},
};

class Goldens : public Program, public ::testing::WithParamInterface<Golden> {};

TEST_P(Goldens, AsAgreed) {
  const auto ran = run(GetParam().arguments);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  const auto path =
      fs::path(std::getenv("ASSAY_SOURCE_DIR")) / "tests/golden/cli" / (std::string(GetParam().name) + ".txt");
  if (std::getenv("ASSAY_UPDATE_GOLDENS") != nullptr) std::ofstream(path, std::ios::binary) << ran.out;
  EXPECT_EQ(ran.out, text_of(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(Cli, Goldens, ::testing::ValuesIn(kGoldens), [](const auto& golden) {
  std::string name = golden.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace assay::testing_cli
