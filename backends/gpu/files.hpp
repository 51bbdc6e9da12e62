// SPDX-License-Identifier: Apache-2.0
// Files: small text files of sysfs and procfs under a root folder, and the PCI fields that both vendors' boards share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/gpu/field.hpp"

namespace assay::gpu {

// Reads only. Tests hand in a folder with canned files as root.
class Files {
 public:
  explicit Files(std::string root) : root_(std::move(root)) {}
  // The content as it is; nothing when it cannot be read. At most 64 KiB.
  [[nodiscard]] std::optional<std::string> bytes(const std::string& path) const;
  // The content without blanks at its ends; nothing when it cannot be read.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  // A decimal or 0x number at the start of the content.
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& path) const;
  // Names in a folder, sorted; empty when there is none.
  [[nodiscard]] std::vector<std::string> list(const std::string& folder) const;

 private:
  std::string root_;
};

// A number at the start of `text`, decimal or 0x; nothing when there is none or it does not fit.
std::optional<std::int64_t> parse_integer(const std::string& text);

// pci_vendor, pci_device_id, pci_subsystem, pci_revision and pcie_link of the device at `bdf`.
void write_pci(const Files& files, const std::string& bdf, const FieldWriter& out);

}  // namespace assay::gpu
