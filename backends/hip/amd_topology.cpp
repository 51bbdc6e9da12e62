// SPDX-License-Identifier: Apache-2.0
// What the kernel driver's topology says of one AMD board.
#include "backends/hip/amd_topology.hpp"

#include <cstdio>
#include <sstream>

namespace assay::gpu::hip {

std::optional<std::int64_t> KfdNode::property(const std::string& name) const {
  const auto found = properties.find(name);
  if (found == properties.end()) return std::nullopt;
  return found->second;
}

std::optional<PciAddress> parse_bdf(const std::string& bdf) {
  PciAddress address;
  char rest = '\0';
  if (std::sscanf(bdf.c_str(), "%x:%x:%x.%x%c", &address.domain, &address.bus, &address.device, &address.function,
                  &rest) != 4)
    return std::nullopt;
  return address;
}

std::optional<KfdNode> find_kfd_node(const Files& files, const std::string& bdf) {
  const auto address = parse_bdf(bdf);
  if (!address) return std::nullopt;
  const std::int64_t location = (address->bus << 8U) | (address->device << 3U) | address->function;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes";
  for (const auto& name : files.list(nodes)) {
    KfdNode node;
    node.folder = nodes;
    node.folder.append("/").append(name);
    node.gpu_id = files.integer(node.folder + "/gpu_id").value_or(0);
    if (node.gpu_id == 0) continue;  // a processor
    std::istringstream lines(files.text(node.folder + "/properties").value_or(""));
    std::string key;
    std::string value;
    // Some values (unique_id) are unsigned 64-bit and do not fit: those are left out, unique_id comes from elsewhere.
    while (lines >> key >> value)
      if (const auto number = parse_integer(value)) node.properties[key] = *number;
    if (node.property("location_id") == location && node.property("domain").value_or(0) == address->domain) return node;
  }
  return std::nullopt;
}

}  // namespace assay::gpu::hip
