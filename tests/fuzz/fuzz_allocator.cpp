// SPDX-License-Identifier: Apache-2.0
// Any bytes as operations on an allocator: the first byte chooses policy and options, the laws hold after each step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "tests/support/allocator_shadow.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay::testing;
  constexpr std::array<std::pair<const char*, const char*>, 8> kPolicies{
      {{"caching", ""},
       {"caching", "max_split_size_mb:21,roundup_power2_divisions:[1:8,4:4,>:2]"},
       {"caching", "per_process_memory_fraction:0.8,garbage_collection_threshold:0.4,tie_break:creation"},
       {"direct", ""},
       {"expandable", ""},
       {"expandable", "max_split_size_mb:21,per_process_memory_fraction:0.8,large_segment_size_mb:12"},
       {"native", "release_threshold_mb:64"},
       {"remapping", ""}}};
  if (size == 0) return 0;
  const auto& [policy, options] = kPolicies[bytes[0] % kPolicies.size()];
  ByteSource source(bytes + 1, size - 1);
  AllocatorShadow shadow(policy, options);
  while (!source.empty()) {
    const std::string problem = shadow.step(source);
    if (problem.empty()) continue;
    std::fprintf(stderr, "%s %s: %s\n", policy, options, problem.c_str());
    std::abort();
  }
  return 0;
}
