// SPDX-License-Identifier: Apache-2.0
// Notices a kernel whose source changed without a new source version.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/argmax/version.hpp"
#include "kernels/attention/version.hpp"
#include "kernels/copy/version.hpp"
#include "kernels/embedding/version.hpp"
#include "kernels/gemm/version.hpp"
#include "kernels/kv_append/version.hpp"
#include "kernels/residual_add/version.hpp"
#include "kernels/rmsnorm/version.hpp"
#include "kernels/rope/version.hpp"
#include "kernels/softmax/version.hpp"
#include "kernels/swiglu/version.hpp"
#include "kernels/triad/version.hpp"

namespace assay::kernels {
namespace {

// The source without comments and without white space: what is left changes only when the tokens do.
std::string tokens(const std::string& source) {
  std::string kept;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 2, "//") == 0) {
      i = source.find('\n', i);
      if (i == std::string::npos) break;
    } else if (std::isspace(static_cast<unsigned char>(source[i])) == 0) {
      kept += source[i];
    }
  }
  return kept;
}

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string hash_of(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) {
    const char* root = std::getenv("ASSAY_SOURCE_DIR");
    std::ifstream in(std::string(root != nullptr ? root : ".") + "/kernels/" + file);
    EXPECT_TRUE(in.good()) << "cannot read kernels/" << file;
    std::ostringstream text;
    text << in.rdbuf();
    all += tokens(text.str());
  }
  std::ostringstream hex;
  hex << "0x" << std::hex << fnv1a(all);
  return hex.str();
}

struct Source {
  std::string version_file;
  SourceVersion version;
  std::vector<std::string> files;
};

std::vector<Source> sources() {
  std::vector<Source> all = {
      {"common/version.hpp",
       kCommonVersion,
       {"common/host_block.hpp", "common/host_lanes.hpp", "common/loops.hpp", "common/multiply.hpp",
        "common/reduce.hpp", "common/shape.hpp", "common/storage.hpp", "common/vendor.hpp"}}};
  const auto add = [&](const std::string& name, SourceVersion version) {
    all.push_back({name + "/version.hpp", version, {name + "/body.hpp"}});
  };
  add("argmax", kArgmaxVersion);
  add("attention", kAttentionVersion);
  add("copy", kCopyVersion);
  add("embedding", kEmbeddingVersion);
  add("gemm", kGemmVersion);
  add("kv_append", kKvAppendVersion);
  add("residual_add", kResidualAddVersion);
  add("rmsnorm", kRmsNormVersion);
  add("rope", kRopeVersion);
  add("softmax", kSoftmaxVersion);
  add("swiglu", kSwigluVersion);
  add("triad", kTriadVersion);
  return all;
}

TEST(SourceVersion, GrowsWithEveryChangeOfAKernelsSource) {
  for (const Source& source : sources()) {
    std::ostringstream stated;
    stated << "0x" << std::hex << source.version.hash;
    EXPECT_EQ(stated.str(), hash_of(source.files))
        << "the source behind kernels/" << source.version_file << " changed. In that file, add one to the version ("
        << source.version.version << ") and replace the hash by " << hash_of(source.files)
        << "; results of the two versions are then never compared as one thing.";
    EXPECT_GE(source.version.version, 1);
  }
}

TEST(SourceVersion, HashSeesTokensAndNothingElse) {
  EXPECT_EQ(tokens("a = b;  // why\n  c;\n"), "a=b;c;");
  EXPECT_EQ(fnv1a(tokens("x + y")), fnv1a(tokens("x  +  y // sum\n")));
  EXPECT_NE(fnv1a(tokens("x + y")), fnv1a(tokens("x - y")));
}

}  // namespace
}  // namespace assay::kernels
