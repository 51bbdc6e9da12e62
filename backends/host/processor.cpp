// SPDX-License-Identifier: Apache-2.0
// cpuid leaves 0, 1 and 0x80000002 to 0x80000004 (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E).
#include "backends/host/processor.hpp"

#include <array>
#include <cstring>
#include <fstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::host {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

#if defined(__x86_64__)

std::string processor_signature() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return {};
  std::array<char, 13> vendor{};
  std::memcpy(vendor.data(), &b, 4);
  std::memcpy(vendor.data() + 4, &d, 4);
  std::memcpy(vendor.data() + 8, &c, 4);
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  const unsigned base_family = (a >> 8U) & 0xFU;
  const unsigned family = base_family == 0xFU ? base_family + ((a >> 20U) & 0xFFU) : base_family;
  unsigned model = (a >> 4U) & 0xFU;
  if (base_family == 0xFU || base_family == 6U) model += ((a >> 16U) & 0xFU) << 4U;
  return std::string(vendor.data()) + "-" + std::to_string(family) + "-" + std::to_string(model) + "-" +
         std::to_string(a & 0xFU);
}

std::string processor_name() {
  std::array<unsigned, 12> words{};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned* word = words.data() + std::size_t{leaf} * 4;
    if (__get_cpuid(0x80000002U + leaf, word, word + 1, word + 2, word + 3) == 0) return {};
  }
  std::array<char, sizeof words + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  return trimmed(text.data());
}

#else

std::string processor_signature() {
  return {};
}
std::string processor_name() {
  return {};
}

#endif

std::string microcode() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("microcode"))
      if (const auto colon = line.find(':'); colon != std::string::npos) return trimmed(line.substr(colon + 1));
  return {};
}

}  // namespace assay::host
