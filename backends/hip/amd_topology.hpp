// SPDX-License-Identifier: Apache-2.0
// KfdNode: what the kernel driver's topology says of one AMD board. No runtime setting alters it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backends/gpu/files.hpp"

namespace assay::gpu::hip {

struct KfdNode {
  std::string folder;  // "sys/class/kfd/kfd/topology/nodes/2"
  std::int64_t gpu_id = 0;
  std::map<std::string, std::int64_t> properties;

  [[nodiscard]] std::optional<std::int64_t> property(const std::string& name) const;
};

// The node whose location and domain are those of `bdf` ("0000:41:00.0"); nothing without KFD or without such a node.
std::optional<KfdNode> find_kfd_node(const Files& files, const std::string& bdf);

// domain, bus, device and function of "0000:41:00.0"; nothing when it is no such address.
struct PciAddress {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
};
std::optional<PciAddress> parse_bdf(const std::string& bdf);

}  // namespace assay::gpu::hip
