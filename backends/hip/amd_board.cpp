// SPDX-License-Identifier: Apache-2.0
// The AMD board behind a device.
#include "backends/hip/amd_board.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "backends/gpu/family.hpp"
#include "backends/gpu/files.hpp"
#include "backends/hip/amd_smi.hpp"
#include "backends/hip/amd_topology.hpp"

namespace assay::gpu::hip {

std::string throttle_from_metrics(const std::string& bytes) {
  if (bytes.size() < 4 || bytes[2] != 1) return {};
  std::size_t offset = 0;  // of throttle_status
  switch (bytes[3]) {
    case 1:
    case 2:
    case 3:
      offset = 68;
      break;
    case 4:
      offset = 40;
      break;
    case 5:
      offset = 104;
      break;
    default:
      return {};
  }
  std::uint32_t status = 0;
  if (bytes.size() < offset + sizeof(status)) return {};
  std::memcpy(&status, bytes.data() + offset, sizeof(status));
  if (status == 0xFFFFFFFFU) return {};
  if (status == 0) return "none";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "status 0x%x", status);
  return text.data();
}

std::int64_t highest_clock_khz(const std::string& table) {
  std::istringstream lines(table);
  std::string line;
  std::int64_t highest = 0;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos)
      highest = std::max(highest, parse_integer(line.substr(colon + 1)).value_or(0) * 1000);
  }
  return highest;
}

namespace {

class AmdBoard final : public Board {
 public:
  AmdBoard(const BoardQuery& query, const LibraryLoader& load, const std::string& root)
      : query_(query),
        files_(root),
        folder_("sys/bus/pci/devices/" + query.pci_bdf + "/"),
        node_(find_kfd_node(files_, query.pci_bdf)),
        smi_(load, parse_bdf(query.pci_bdf)) {
    const auto monitors = files_.list(folder_ + "hwmon");
    if (!monitors.empty()) hwmon_ = "hwmon/" + monitors.front() + "/";
  }

  // The kernel driver's number where the runtime has none (it hands out "XX" on boards without a fuse for it).
  std::string uuid() override {
    if (!query_.uuid.empty()) return query_.uuid;
    const auto id = files_.text(folder_ + "unique_id");
    return id && !id->empty() ? "amd:" + *id : std::string{};
  }

  void identity(const FieldWriter& out) override {
    write_pci(files_, query_.pci_bdf, out);
    write_physical(out);
    write_partition(out);
    write_integer(out, "memory_total_bytes", "mem_info_vram_total", 1);
    write_memory_clock(out);
    write_ecc(out);
    write_power(out);
    write_clocks(out);
    write_virtualization(out);
    write_driver(out);
  }

  void sensors(const FieldWriter& out) override {
    const auto metrics = files_.bytes(folder_ + "gpu_metrics");
    const std::string throttle = metrics ? throttle_from_metrics(*metrics) : std::string{};
    if (throttle.empty())
      out.unknown("throttle_reasons", "gpu_metrics is missing, or of a version this module does not read",
                  "gpu_metrics");
    else
      out.text("throttle_reasons", throttle, "gpu_metrics");
    write_monitor(out, "clock_khz", "freq1_input", 1000);
    write_monitor(out, "memory_clock_khz", "freq2_input", 1000);
    write_monitor(out, "temperature_celsius", "temp1_input", 1000);
    const bool averaged = files_.text(folder_ + hwmon_ + "power1_average").has_value();
    write_monitor(out, "power_milliwatts", averaged ? "power1_average" : "power1_input", 1000);
    write_integer(out, "utilization_percent", "gpu_busy_percent", 1);
    write_others(out);
    write_integer(out, "used_bytes", "mem_info_vram_used", 1);
  }

  Reading used_bytes() override {
    const auto used = files_.integer(folder_ + "mem_info_vram_used");
    if (!used) return {std::nullopt, "mem_info_vram_used cannot be read"};
    return {used, "mem_info_vram_used"};
  }

  Reading process_bytes() override {
    if (!node_) return {std::nullopt, "the kernel driver's topology does not list the board"};
    const std::string path = processes() + "/" + std::to_string(::getpid()) + "/" + memory_file();
    const auto bytes = files_.integer(path);
    if (!bytes) return {std::nullopt, "the kernel driver does not list this process (it may be in another namespace)"};
    return {bytes, "/" + path};
  }

 private:
  static std::string processes() { return "sys/class/kfd/kfd/proc"; }
  [[nodiscard]] std::string memory_file() const { return "vram_" + std::to_string(node_->gpu_id); }

  // A number of the device's folder, divided by `divisor`.
  void write_integer(const FieldWriter& out, const char* key, const std::string& name, std::int64_t divisor) const {
    const std::string source = "/" + folder_ + name;
    if (const auto value = files_.integer(folder_ + name))
      out.integer(key, *value / divisor, source.c_str());
    else
      out.unknown(key, "the file cannot be read", source.c_str());
  }

  void write_monitor(const FieldWriter& out, const char* key, const std::string& name, std::int64_t divisor) const {
    if (hwmon_.empty())
      out.unknown(key, "the board has no hwmon folder", "hwmon");
    else
      write_integer(out, key, hwmon_ + name, divisor);
  }

  void write_physical(const FieldWriter& out) const {
    static constexpr const char* source = "/sys/class/kfd/kfd/topology: gfx_target_version";
    if (!node_) {
      out.unknown("arch_physical", "the kernel driver's topology does not list the board", source);
      return;
    }
    const std::string name = gfx_name(static_cast<long>(node_->property("gfx_target_version").value_or(0)));
    if (name.empty())
      out.unknown("arch_physical", "the topology gives no gfx_target_version", source);
    else
      out.text("arch_physical", name, source);
  }

  void write_partition(const FieldWriter& out) const {
    const auto compute = files_.text(folder_ + "current_compute_partition");
    const auto memory = files_.text(folder_ + "current_memory_partition");
    static constexpr const char* source = "current_compute_partition, current_memory_partition";
    if (compute && memory)
      out.text("partition", *compute + "/" + *memory, source);
    else if (compute)
      out.text("partition", *compute, source);
    else if (files_.text(folder_ + "vendor"))
      out.text("partition", "none", source);  // the driver shows these files only on boards that can be split
    else
      out.unknown("partition", "the device's folder cannot be read", source);
  }

  void write_memory_clock(const FieldWriter& out) const {
    const auto table = files_.text(folder_ + "pp_dpm_mclk");
    const std::int64_t khz = table ? highest_clock_khz(*table) : 0;
    if (khz > 0)
      out.integer("memory_clock_khz", khz, "pp_dpm_mclk");
    else
      out.unknown("memory_clock_khz", "pp_dpm_mclk cannot be read", "pp_dpm_mclk");
  }

  // The runtime's own flag is always 0 on AMD and is not asked.
  void write_ecc(const FieldWriter& out) const {
    if (const auto blocks = smi_.ecc_blocks()) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "on 0x%llx", static_cast<unsigned long long>(*blocks));
      out.text("ecc", *blocks != 0 ? text.data() : "off", smi_.source().c_str());
      return;
    }
    if (const auto features = files_.text(folder_ + "ras/features"))
      out.text("ecc",
               features->find("0x0") != std::string::npos && features->find("0x0") + 3 == features->size() ? "off"
                                                                                                           : *features,
               "ras/features");
    else
      out.unknown("ecc", smi_.source() + ", and the driver shows no ras/features", "ras/features");
  }

  void write_power(const FieldWriter& out) const {
    write_monitor(out, "power_cap_watts", "power1_cap", 1000000);
    write_monitor(out, "power_cap_default_watts", "power1_cap_default", 1000000);
    const auto cap = files_.integer(folder_ + hwmon_ + "power1_cap");
    const auto usual = files_.integer(folder_ + hwmon_ + "power1_cap_default");
    if (cap && usual && *usual > 0)
      out.integer("power_cap_share", *cap * 1000 / *usual, "power1_cap, power1_cap_default");
    else
      out.unknown("power_cap_share", "the power cap or its default cannot be read", "power1_cap, power1_cap_default");
  }

  void write_clocks(const FieldWriter& out) const {
    static constexpr const char* name = "power_dpm_force_performance_level";
    if (const auto level = files_.text(folder_ + name))
      out.text("clocks", *level == "auto" ? "default" : *level, name);
    else
      out.unknown("clocks", "the file cannot be read", name);
  }

  void write_virtualization(const FieldWriter& out) const {
    const std::string mode = smi_.virtualization();
    if (mode.empty())
      out.unknown("virtualization", smi_.source() + "; the mode is not told", "amdsmi_get_gpu_virtualization_mode");
    else
      out.text("virtualization", mode, smi_.source().c_str());
    out.not_applicable("mps", "a service of CUDA", "build");
    out.not_applicable("confidential_compute", "not read on AMD boards", "build");
  }

  void write_driver(const FieldWriter& out) const {
    const auto version = files_.text("sys/module/amdgpu/version");
    const auto kernel = files_.text("proc/sys/kernel/osrelease");
    if (version)
      out.text("driver", "amdgpu " + *version, "/sys/module/amdgpu/version");
    else if (kernel)  // the driver of the kernel's own tree has no version of its own
      out.text("driver", "amdgpu in-tree " + *kernel, "/proc/sys/kernel/osrelease");
    else
      out.unknown("driver", "neither the driver's nor the kernel's version can be read", "/sys/module/amdgpu/version");
    std::string firmware;
    if (const auto vbios = files_.text(folder_ + "vbios_version")) firmware = "vbios " + *vbios;
    for (const auto& name : files_.list(folder_ + "fw_version")) {
      const auto number = files_.text(folder_ + "fw_version/" + name);
      if (number && *number != "0x00000000") firmware += (firmware.empty() ? "" : " ") + name + "=" + *number;
    }
    if (firmware.empty())
      out.unknown("firmware", "neither vbios_version nor fw_version can be read", "vbios_version, fw_version");
    else
      out.text("firmware", firmware, "vbios_version, fw_version");
    const char* deferred = std::getenv("HIP_ENABLE_DEFERRED_LOADING");  // NOLINT(concurrency-mt-unsafe)
    out.text("module_loading", deferred != nullptr && std::strcmp(deferred, "0") == 0 ? "eager" : "lazy",
             "HIP_ENABLE_DEFERRED_LOADING");
  }

  void write_others(const FieldWriter& out) const {
    static constexpr const char* source = "/sys/class/kfd/kfd/proc";
    if (!node_) {
      out.unknown("other_processes", "the kernel driver's topology does not list the board", source);
      return;
    }
    std::int64_t others = 0;
    for (const auto& process : files_.list(processes())) {
      if (process == std::to_string(::getpid())) continue;
      if (files_.integer(processes() + "/" + process + "/" + memory_file()).value_or(0) > 0) ++others;
    }
    out.integer("other_processes", others, source);
  }

  BoardQuery query_;
  Files files_;
  std::string folder_;
  std::string hwmon_;
  std::optional<KfdNode> node_;
  AmdSmi smi_;
};

}  // namespace

std::unique_ptr<Board> open_amd_board(const BoardQuery& query, const LibraryLoader& load, const std::string& root) {
  return std::make_unique<AmdBoard>(query, load, root);
}

}  // namespace assay::gpu::hip
