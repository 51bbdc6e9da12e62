// SPDX-License-Identifier: Apache-2.0
// Architecture names taken apart.
#include "backends/gpu/family.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace assay::gpu {

Architecture split_architecture(std::string_view name) {
  Architecture result;
  const std::size_t colon = name.find(':');
  result.base = name.substr(0, colon);
  if (colon == std::string_view::npos) return result;
  result.features = name.substr(colon + 1);
  return result;
}

namespace {
using Row = std::pair<std::string_view, std::string_view>;
// Exact names first, then prefixes; the first row that fits wins.
constexpr std::array<Row, 15> exact{{{"sm_70", "volta"},
                                     {"sm_72", "volta"},
                                     {"sm_75", "turing"},
                                     {"sm_89", "ada"},
                                     {"sm_90", "hopper"},
                                     {"gfx900", "gcn5"},
                                     {"gfx902", "gcn5"},
                                     {"gfx904", "gcn5"},
                                     {"gfx906", "gcn5"},
                                     {"gfx908", "cdna"},
                                     {"gfx90a", "cdna2"},
                                     {"gfx940", "cdna3"},
                                     {"gfx941", "cdna3"},
                                     {"gfx942", "cdna3"},
                                     {"gfx950", "cdna4"}}};
constexpr std::array<Row, 8> prefixes{{{"sm_8", "ampere"},
                                       {"sm_10", "blackwell"},
                                       {"sm_12", "blackwell"},
                                       {"gfx101", "rdna1"},
                                       {"gfx103", "rdna2"},
                                       {"gfx110", "rdna3"},
                                       {"gfx115", "rdna3.5"},
                                       {"gfx120", "rdna4"}}};
}  // namespace

std::string_view family_of(std::string_view base) {
  for (const auto& [name, family] : exact)
    if (base == name) return family;
  for (const auto& [prefix, family] : prefixes)
    if (base.substr(0, prefix.size()) == prefix) return family;
  return {};
}

std::string_view feature_state(std::string_view features, std::string_view feature) {
  const std::size_t at = features.find(feature);
  if (at == std::string_view::npos || at + feature.size() >= features.size()) return "unsupported";
  return features[at + feature.size()] == '+' ? "on" : "off";
}

std::string gfx_name(long target_version) {
  if (target_version <= 0) return {};
  const long major = target_version / 10000;
  const long minor = target_version / 100 % 100;
  const long stepping = target_version % 100;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "gfx%ld%lx%lx", major, static_cast<unsigned long>(minor),
                static_cast<unsigned long>(stepping));
  return text.data();
}

std::string_view execution_kind(std::string_view device_name, bool architecture_override) {
  if (device_name.find("ZLUDA") != std::string_view::npos || device_name.find("chipStar") != std::string_view::npos)
    return "emulated";
  return architecture_override ? "override" : "native";
}

bool has_architecture_override(const char* const* environment) {
  if (environment == nullptr) return false;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    if (entry.substr(0, 24) != "HSA_OVERRIDE_GFX_VERSION") continue;
    if (entry.size() > 24 && (entry[24] == '=' || entry[24] == '_')) return true;
  }
  return false;
}

}  // namespace assay::gpu
