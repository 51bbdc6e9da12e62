// SPDX-License-Identifier: Apache-2.0
// Gates on the two traits structs as text: the same names in the same order, and no default stream anywhere.
#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "tests/gates/gate.hpp"

namespace assay::test {
namespace {

std::string read_source(const std::string& path) {
  std::ifstream file(environment("ASSAY_SOURCE_DIR") + "/" + path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// The names a traits struct declares, in order: `using X =`, `static constexpr ... X =`, `static ... X(`.
std::vector<std::string> names_of(const std::string& text) {
  static const std::regex declaration(
      "\n  (?:using ([A-Za-z_]+) =|static constexpr [^=(\n]*?([a-z_]+) =|static [^=(\n]*?([a-z_]+)\\()");
  std::vector<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match)
    for (std::size_t group = 1; group <= 3; ++group)
      if ((*match)[group].matched) names.push_back((*match)[group]);
  return names;
}

// Calls of a runtime that work on its default stream, or name one.
std::vector<std::string> default_stream_uses(const std::string& text) {
  static const std::regex use(
      "\\b(?:cuda|hip)(?:Memcpy|Memset|MemcpyPeer|MallocAsync|LaunchKernelGGL|StreamLegacy|StreamPerThread|"
      "StreamCreate|"
      "MemPrefetchAsync|Launch)\\b|<<<|cudaStream_t\\{\\}|hipStream_t\\{\\}");
  std::vector<std::string> uses;
  for (std::sregex_iterator match(text.begin(), text.end(), use), end; match != end; ++match)
    uses.push_back(match->str());
  return uses;
}

TEST(Traits, HaveTheSameNamesInTheSameOrder) {
  const auto cuda = names_of(read_source("backends/cuda/runtime.hpp"));
  auto hip = names_of(read_source("backends/hip/runtime.hpp"));
  ASSERT_GT(cuda.size(), 80U) << "the pattern no longer finds the declarations";
  // HIP's virtual memory is part of its runtime, and so is the struct that describes it; CUDA's is in the driver.
  hip.erase(std::remove(hip.begin(), hip.end(), "allocation_properties"), hip.end());
  EXPECT_EQ(cuda, hip);
}

TEST(Traits, NeverUseTheDefaultStream) {
  for (const char* path : {"backends/cuda/runtime.hpp", "backends/cuda/driver.cpp", "backends/cuda/module.cpp",
                           "backends/hip/runtime.hpp", "backends/hip/versions.cpp", "backends/hip/module.cpp"}) {
    const std::string text = read_source(path);
    ASSERT_FALSE(text.empty()) << path;
    EXPECT_EQ(default_stream_uses(text), std::vector<std::string>{}) << path;
  }
  EXPECT_EQ(default_stream_uses("return cudaMemcpy(to, from, bytes, kind);").size(), 1U);
  EXPECT_EQ(default_stream_uses("kernel<<<grid, block>>>(p); hipStreamCreate(&s);").size(), 2U);
  EXPECT_EQ(default_stream_uses("cudaMemcpyAsync(to, from, bytes, kind, stream);").size(), 0U);
}

}  // namespace
}  // namespace assay::test
