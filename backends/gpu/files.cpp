// SPDX-License-Identifier: Apache-2.0
// Small text files of sysfs and procfs.
#include "backends/gpu/files.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace assay::gpu {

std::optional<std::string> Files::bytes(const std::string& path) const {
  const std::string full = root_ + "/" + path;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(full.c_str(), "re"), &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string content(std::size_t{64} << 10, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0) return std::nullopt;  // sysfs answers some reads with EPERM, EBUSY or ENODATA
  return content;
}

std::optional<std::string> Files::text(const std::string& path) const {
  const auto content = bytes(path);
  if (!content) return std::nullopt;
  static constexpr const char* blanks = " \t\r\n";
  const std::size_t first = content->find_first_not_of(blanks);
  if (first == std::string::npos) return std::string{};
  return content->substr(first, content->find_last_not_of(blanks) - first + 1);
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const long long value = std::strtoll(text.c_str(), &end, hex ? 16 : 10);
  if (end == text.c_str() || errno == ERANGE) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Files::integer(const std::string& path) const {
  const auto content = text(path);
  return content ? parse_integer(*content) : std::nullopt;
}

std::vector<std::string> Files::list(const std::string& folder) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir((root_ + "/" + folder).c_str()), &::closedir);
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_pci(const Files& files, const std::string& bdf, const FieldWriter& out) {
  const std::string folder = "sys/bus/pci/devices/" + bdf + "/";
  const auto field = [&](const char* key, const std::string& name) {
    const std::string source = "/" + folder + name;
    if (const auto text = files.text(folder + name))
      out.text(key, *text, source.c_str());
    else
      out.unknown(key, "the file cannot be read", source.c_str());
  };
  field("pci_vendor", "vendor");
  field("pci_device_id", "device");
  field("pci_revision", "revision");
  const auto vendor = files.text(folder + "subsystem_vendor");
  const auto device = files.text(folder + "subsystem_device");
  const std::string source = "/" + folder + "subsystem_*";
  if (vendor && device)
    out.text("pci_subsystem", *vendor + ":" + *device, source.c_str());
  else
    out.unknown("pci_subsystem", "the files cannot be read", source.c_str());
  const auto speed = files.text(folder + "current_link_speed");
  const auto width = files.text(folder + "current_link_width");
  const std::string link = "/" + folder + "current_link_*";
  if (speed && width)
    out.text("pcie_link", *speed + " x" + *width, link.c_str());
  else
    out.unknown("pcie_link", "the files cannot be read", link.c_str());
}

}  // namespace assay::gpu
