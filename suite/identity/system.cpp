// SPDX-License-Identifier: Apache-2.0
// Reads of /proc, /sys and /etc behind the program's own identity fields.
#include "suite/identity/system.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "suite/identity/environment.hpp"
#include "suite/identity/sha256.hpp"

namespace assay::identity {
namespace fs = std::filesystem;

IdentityField value_field(std::string key, FieldValue value, std::string source) {
  return {std::move(key), Tier::info, FieldState::value, std::move(value), "", std::move(source)};
}

IdentityField unknown_field(std::string key, std::string reason) {
  return {std::move(key), Tier::info, FieldState::unknown, std::string{}, std::move(reason), ""};
}

namespace {

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(" \t\n\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

// The rest of the first line that starts with `prefix`, without the separators that follow it.
std::optional<std::string> line_after(const std::string& text, std::string_view prefix) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix)) {
      const auto start = line.find_first_not_of(" \t:=\"", prefix.size());
      if (start == std::string::npos) return std::string{};
      const auto end = line.find_last_not_of(" \t\r\"");
      return line.substr(start, end - start + 1);
    }
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

IdentityField first_line(const fs::path& root, std::string key, const std::string& file, const std::string& absent) {
  if (auto text = read_text(root / file); text && !trimmed(*text).empty())
    return value_field(std::move(key), trimmed(*text), "/" + file);
  return unknown_field(std::move(key), absent);
}

// Ids that would name the machine to a stranger are kept as hashes of our own salt and the id.
IdentityField hashed(const fs::path& root, const std::string& key, const std::string& file) {
  const auto text = read_text(root / file);
  if (!text || trimmed(*text).empty()) return unknown_field(key, "/" + file + " cannot be read");
  const auto hash = sha256("assay:" + key + ":" + trimmed(*text));
  if (!hash) return unknown_field(key, hash.error().text);
  return value_field(key, hash->substr(0, 32), "hash of /" + file);
}

IdentityField container(const fs::path& root) {
  std::error_code ignored;
  if (fs::exists(root / ".dockerenv", ignored)) return value_field("container", "docker", "/.dockerenv");
  if (fs::exists(root / "run/.containerenv", ignored)) return value_field("container", "podman", "/run/.containerenv");
  if (const auto text = read_text(root / "run/systemd/container"); text && !trimmed(*text).empty())
    return value_field("container", trimmed(*text), "/run/systemd/container");
  const auto groups = read_text(root / "proc/self/cgroup");
  if (!groups) return unknown_field("container", "/proc/self/cgroup cannot be read");
  for (const char* word : {"kubepods", "docker", "libpod", "lxc"})
    if (groups->find(word) != std::string::npos) return value_field("container", word, "/proc/self/cgroup");
  return value_field("container", "none", "/proc/self/cgroup");
}

// Version 2 of control groups first, then the memory controller of version 1. The limits of the groups above are not
// looked at: inside a container they cannot be seen.
IdentityField cgroup_memory(const fs::path& root) {
  const std::string key = "cgroup_memory_bytes";
  const auto groups = read_text(root / "proc/self/cgroup");
  if (!groups) return unknown_field(key, "/proc/self/cgroup cannot be read");
  std::istringstream lines(*groups);
  for (std::string line; std::getline(lines, line);) {
    const auto controllers = line.find(':');
    const auto path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
    if (path == std::string::npos) continue;
    const std::string names = line.substr(controllers + 1, path - controllers - 1);
    const std::string group = line.substr(path + 1);
    if (!names.empty() && names != "memory") continue;
    const std::string folder = names.empty() ? "sys/fs/cgroup" : "sys/fs/cgroup/memory";
    const std::string leaf = names.empty() ? "/memory.max" : "/memory.limit_in_bytes";
    for (const std::string& inside : {group == "/" ? std::string{} : group, std::string{}}) {
      const auto text = read_text(root / (folder + inside + leaf));
      if (!text) continue;
      if (trimmed(*text) == "max") return value_field(key, std::int64_t{-1}, "/" + folder + inside + leaf);
      const auto limit = whole_number(trimmed(*text));
      if (!limit) continue;
      // Version 1 says "no limit" as the largest page multiple of 63 bits.
      constexpr std::int64_t unlimited = std::int64_t{1} << 62;
      return value_field(key, *limit >= unlimited ? std::int64_t{-1} : *limit, "/" + folder + inside + leaf);
    }
  }
  return unknown_field(key, "no memory controller shows a limit under /sys/fs/cgroup");
}

IdentityField governor(const fs::path& root) {
  std::set<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/cpu", failure)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) continue;
    if (const auto text = read_text(entry.path() / "cpufreq/scaling_governor")) names.insert(trimmed(*text));
  }
  if (names.empty()) return unknown_field("governor", "the system offers no cpufreq");
  std::string joined;
  for (const auto& name : names) joined += (joined.empty() ? "" : ",") + name;
  return value_field("governor", joined, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
}

IdentityField iommu(const fs::path& root) {
  std::error_code failure;
  const fs::directory_iterator groups(root / "sys/kernel/iommu_groups", failure);
  if (failure) return unknown_field("iommu", "/sys/kernel/iommu_groups cannot be read");
  const auto count = std::distance(begin(groups), end(groups));
  return value_field("iommu", count == 0 ? std::string("off") : std::to_string(count) + " groups",
                     "/sys/kernel/iommu_groups");
}

IdentityField from_lines(const fs::path& root, const std::string& key, const std::string& file,
                         std::string_view prefix) {
  const auto text = read_text(root / file);
  if (!text) return unknown_field(key, "/" + file + " cannot be read");
  const auto value = line_after(*text, prefix);
  if (!value || value->empty()) return unknown_field(key, "/" + file + " has no line '" + std::string(prefix) + "'");
  return value_field(key, *value, "/" + file);
}

void add_process_facts(std::vector<IdentityField>& fields) {
  utsname names{};
  fields.push_back(::uname(&names) == 0 ? value_field("kernel_release", std::string(names.release), "uname")
                                        : unknown_field("kernel_release", "uname failed"));
  std::array<char, 256> host{};
  fields.push_back(::gethostname(host.data(), host.size() - 1) == 0
                       ? value_field("host_name", std::string(host.data()), "gethostname")
                       : unknown_field("host_name", "gethostname failed"));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    fields.push_back(value_field(
        "open_files_limit",
        limit.rlim_cur == RLIM_INFINITY ? std::int64_t{-1} : static_cast<std::int64_t>(limit.rlim_cur), "getrlimit"));
  else
    fields.push_back(unknown_field("open_files_limit", "getrlimit failed"));
}

}  // namespace

std::vector<IdentityField> read_system(const fs::path& root) {
  std::vector<IdentityField> fields;
  add_process_facts(fields);
  fields.push_back(from_lines(root, "cpu", "proc/cpuinfo", "model name"));
  fields.push_back(from_lines(root, "os", "etc/os-release", "PRETTY_NAME"));
  fields.push_back(from_lines(root, "cpuset", "proc/self/status", "Cpus_allowed_list"));
  fields.push_back(first_line(root, "numa", "sys/devices/system/node/online", "the system shows no memory nodes"));
  fields.push_back(governor(root));
  fields.push_back(iommu(root));
  fields.push_back(container(root));
  fields.push_back(cgroup_memory(root));
  fields.push_back(hashed(root, "machine_id", "etc/machine-id"));
  fields.push_back(hashed(root, "boot_id", "proc/sys/kernel/random/boot_id"));
  const auto maps = read_text(root / "proc/sys/vm/max_map_count");
  const auto count = maps ? whole_number(trimmed(*maps)) : std::nullopt;
  fields.push_back(count ? value_field("map_count_limit", *count, "/proc/sys/vm/max_map_count")
                         : unknown_field("map_count_limit", "/proc/sys/vm/max_map_count cannot be read"));
  fields.push_back(value_field("environment_list", kEnvironmentListVersion, "build"));
  return fields;
}

}  // namespace assay::identity
