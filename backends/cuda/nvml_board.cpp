// SPDX-License-Identifier: Apache-2.0
// The NVIDIA board behind a device.
#include "backends/cuda/nvml_board.hpp"

#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/cuda/nvml.hpp"
#include "backends/gpu/files.hpp"

namespace assay::gpu::cuda {

std::string throttle_text(unsigned long long reasons) {
  // Bits of nvmlClocksEventReason*. Idle (1) and application clocks (2) are no throttling.
  static constexpr std::array<std::pair<unsigned long long, const char*>, 7> names{{{0x4, "power_cap"},
                                                                                    {0x8, "hardware_slowdown"},
                                                                                    {0x10, "sync_boost"},
                                                                                    {0x20, "thermal_software"},
                                                                                    {0x40, "thermal_hardware"},
                                                                                    {0x80, "power_brake"},
                                                                                    {0x100, "display"}}};
  std::string text;
  for (const auto& [bit, name] : names)
    if ((reasons & bit) != 0) text += (text.empty() ? "" : ",") + std::string(name);
  return text.empty() ? "none" : text;
}

namespace {

constexpr unsigned clock_sm = 1;
constexpr unsigned clock_memory = 2;

class NvmlBoard final : public Board {
 public:
  NvmlBoard(const BoardQuery& query, RuntimeFacts facts, const LibraryLoader& load, const std::string& root)
      : query_(query), facts_(std::move(facts)), files_(root), nvml_(load) {
    find_handles();
  }

  std::string uuid() override { return is_mig_ ? "nvidia:MIG-" + bare_uuid() : query_.uuid; }

  void identity(const FieldWriter& out) override {
    write_pci(files_, query_.pci_bdf, out);
    out.not_applicable("arch_physical", "no runtime setting changes what an NVIDIA board is taken for", "build");
    write_memory(out);
    write_partition(out);
    write_switch(out, "ecc", "nvmlDeviceGetEccMode");
    write_power(out);
    write_clocks(out);
    write_virtualization(out);
    write_driver(out);
  }

  void sensors(const FieldWriter& out) override {
    write_throttle(out);
    write_unsigned(out, "clock_khz", "nvmlDeviceGetClockInfo", 1000, clock_sm);
    write_unsigned(out, "memory_clock_khz", "nvmlDeviceGetClockInfo", 1000, clock_memory);
    write_unsigned(out, "temperature_celsius", "nvmlDeviceGetTemperature", 1, 0U);
    write_unsigned(out, "power_milliwatts", "nvmlDeviceGetPowerUsage", 1);
    NvmlUtilization utilization;
    const int status = nvml_.call("nvmlDeviceGetUtilizationRates", board_, &utilization);
    write(out, "utilization_percent", "nvmlDeviceGetUtilizationRates", status, utilization.gpu);
    const auto processes = list_processes();
    write(out, "other_processes", processes.source, processes.status, count_others(processes.list));
    const Reading used = used_bytes();
    if (used.value)
      out.integer("used_bytes", *used.value, used.text.c_str());
    else
      out.unknown("used_bytes", used.text, "nvmlDeviceGetMemoryInfo_v2");
  }

  Reading used_bytes() override {
    NvmlMemoryV2 memory;
    const int status = nvml_.call("nvmlDeviceGetMemoryInfo_v2", handle_, &memory);
    if (status != nvml_ok) return {std::nullopt, reason("nvmlDeviceGetMemoryInfo_v2", status)};
    return {static_cast<std::int64_t>(memory.used), "nvmlDeviceGetMemoryInfo_v2"};
  }

  Reading process_bytes() override {
    const auto processes = list_processes();
    if (processes.status != nvml_ok) return {std::nullopt, reason(processes.source, processes.status)};
    for (const auto& process : processes.list) {
      if (process.pid != static_cast<unsigned>(::getpid())) continue;
      if (process.used_bytes == ~std::uint64_t{0}) return {std::nullopt, "NVML knows no memory of this process"};
      return {static_cast<std::int64_t>(process.used_bytes), processes.source};
    }
    return {std::nullopt, "NVML does not list this process (it may be in another process namespace)"};
  }

 private:
  struct Processes {
    int status;
    const char* source;
    std::vector<NvmlProcess> list;
  };

  // A slice has a handle of its own; power, clocks and firmware belong to the board around it.
  void find_handles() {
    const std::string mig = "MIG-" + bare_uuid();
    if (nvml_.call("nvmlDeviceGetHandleByUUID", mig.c_str(), &handle_) == nvml_ok) {
      is_mig_ = true;
      if (nvml_.call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", handle_, &board_) != nvml_ok) board_ = nullptr;
      return;
    }
    found_ = nvml_.call("nvmlDeviceGetHandleByPciBusId_v2", query_.pci_bdf.c_str(), &handle_);
    board_ = handle_;
  }

  // The 36 characters behind "nvidia:GPU-".
  [[nodiscard]] std::string bare_uuid() const {
    const std::size_t dash = query_.uuid.find('-');
    return dash == std::string::npos ? query_.uuid : query_.uuid.substr(dash + 1);
  }

  [[nodiscard]] std::string reason(const char* name, int status) const {
    if (found_ != nvml_ok) return nvml_.reason("nvmlDeviceGetHandleByPciBusId_v2", found_);
    return nvml_.reason(name, status);
  }

  void write(const FieldWriter& out, const char* key, const char* name, int status, std::int64_t value) const {
    if (found_ == nvml_ok && status == nvml_ok)
      out.integer(key, value, name);
    else
      out.unknown(key, reason(name, status), name);
  }

  template <class... Selector>
  int read(const char* name, unsigned* value, Selector... selector) const {
    if (board_ == nullptr) return nvml_missing;
    return nvml_.call(name, board_, selector..., value);
  }

  template <class... Selector>
  void write_unsigned(const FieldWriter& out, const char* key, const char* name, std::int64_t scale,
                      Selector... selector) const {
    unsigned value = 0;
    const int status = read(name, &value, selector...);
    write(out, key, name, status, static_cast<std::int64_t>(value) * scale);
  }

  void write_memory(const FieldWriter& out) const {
    NvmlMemoryV2 memory;
    const int status = nvml_.call("nvmlDeviceGetMemoryInfo_v2", handle_, &memory);
    write(out, "memory_total_bytes", "nvmlDeviceGetMemoryInfo_v2", status, static_cast<std::int64_t>(memory.total));
    write_unsigned(out, "memory_clock_khz", "nvmlDeviceGetMaxClockInfo", 1000, clock_memory);
  }

  void write_partition(const FieldWriter& out) const {
    if (is_mig_) {
      NvmlAttributes slice;
      unsigned gpu = 0;
      unsigned compute = 0;
      const int status = nvml_.call("nvmlDeviceGetAttributes_v2", handle_, &slice);
      const bool ids = nvml_.call("nvmlDeviceGetGpuInstanceId", handle_, &gpu) == nvml_ok &&
                       nvml_.call("nvmlDeviceGetComputeInstanceId", handle_, &compute) == nvml_ok;
      if (status != nvml_ok || !ids)
        out.unknown("partition", "a MIG slice whose profile NVML does not tell", "nvmlDeviceGetAttributes_v2");
      else
        out.text("partition",
                 "MIG " + std::to_string(slice.compute_slices) + "c." + std::to_string(slice.gpu_slices) + "g." +
                     std::to_string(slice.memory_mib) + "mib gi" + std::to_string(gpu) + " ci" +
                     std::to_string(compute),
                 "nvmlDeviceGetAttributes_v2");
      return;
    }
    unsigned current = 0;
    unsigned pending = 0;
    const int status = nvml_.call("nvmlDeviceGetMigMode", handle_, &current, &pending);
    if (found_ == nvml_ok && (status == nvml_not_supported || (status == nvml_ok && current == 0)))
      out.text("partition", "none", "nvmlDeviceGetMigMode");
    else if (found_ == nvml_ok && status == nvml_ok)
      out.unknown("partition", "MIG is on but the runtime's device is no slice that NVML knows",
                  "nvmlDeviceGetMigMode");
    else
      out.unknown("partition", reason("nvmlDeviceGetMigMode", status), "nvmlDeviceGetMigMode");
  }

  void write_switch(const FieldWriter& out, const char* key, const char* name) const {
    unsigned current = 0;
    unsigned pending = 0;
    const int status = board_ == nullptr ? nvml_missing : nvml_.call(name, board_, &current, &pending);
    if (found_ == nvml_ok && status == nvml_ok)
      out.text(key, current != 0 ? "on" : "off", name);
    else if (found_ == nvml_ok && status == nvml_not_supported)
      out.text(key, "off", name);
    else
      out.unknown(key, reason(name, status), name);
  }

  void write_power(const FieldWriter& out) const {
    static constexpr const char* enforced_name = "nvmlDeviceGetEnforcedPowerLimit";
    static constexpr const char* default_name = "nvmlDeviceGetPowerManagementDefaultLimit";
    unsigned enforced = 0;
    unsigned usual = 0;
    const int first = read(enforced_name, &enforced);
    const int second = read(default_name, &usual);
    write(out, "power_cap_watts", enforced_name, first, enforced / 1000);
    write(out, "power_cap_default_watts", default_name, second, usual / 1000);
    if (first == nvml_ok && second == nvml_ok && usual == 0)
      out.unknown("power_cap_share", "the default power limit reads as zero", default_name);
    else
      write(out, "power_cap_share", enforced_name, first != nvml_ok ? first : second,
            usual == 0 ? 0 : static_cast<std::int64_t>(enforced) * 1000 / usual);
  }

  void write_clocks(const FieldWriter& out) const {
    static constexpr const char* name = "nvmlDeviceGetApplicationsClock";
    unsigned chosen = 0;
    unsigned usual = 0;
    int status = read(name, &chosen, clock_sm);
    if (status == nvml_ok) status = read("nvmlDeviceGetDefaultApplicationsClock", &usual, clock_sm);
    if (found_ != nvml_ok || status != nvml_ok)
      out.unknown("clocks", reason(name, status), name);
    else
      out.text("clocks", chosen == usual ? "default" : "application " + std::to_string(chosen) + " MHz", name);
  }

  void write_virtualization(const FieldWriter& out) const {
    static constexpr const char* name = "nvmlDeviceGetVirtualizationMode";
    unsigned mode = 0;
    const int status = read(name, &mode);
    if (found_ != nvml_ok || status != nvml_ok)
      out.unknown("virtualization", reason(name, status), name);
    else
      out.text("virtualization", mode == 0 ? "none" : mode == 1 ? "passthrough" : "vgpu", name);
    if (facts_.mps)
      out.boolean("mps", *facts_.mps, "cudaDevAttrMpsEnabled");
    else
      out.unknown("mps", "the runtime does not tell", "cudaDevAttrMpsEnabled");
    static constexpr const char* secret = "nvmlSystemGetConfComputeState";
    NvmlConfidential state;
    const int answer = nvml_.call(secret, &state);
    if (answer == nvml_ok)
      out.boolean("confidential_compute", state.feature != 0, secret);
    else if (answer == nvml_not_supported)
      out.boolean("confidential_compute", false, secret);
    else
      out.unknown("confidential_compute", nvml_.reason(secret, answer), secret);
  }

  void write_driver(const FieldWriter& out) const {
    std::array<char, 96> text{};
    const int status = nvml_.call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()));
    if (status == nvml_ok)
      out.text("driver", text.data(), "nvmlSystemGetDriverVersion");
    else
      out.unknown("driver", nvml_.reason("nvmlSystemGetDriverVersion", status), "nvmlSystemGetDriverVersion");
    std::array<char, 96> firmware{};
    const int vbios = board_ == nullptr ? nvml_missing
                                        : nvml_.call("nvmlDeviceGetVbiosVersion", board_, firmware.data(),
                                                     static_cast<unsigned>(firmware.size()));
    std::array<char, 96> gsp{};
    const bool has_gsp =
        board_ != nullptr && nvml_.call("nvmlDeviceGetGspFirmwareVersion", board_, gsp.data()) == nvml_ok;
    if (found_ == nvml_ok && vbios == nvml_ok)
      out.text("firmware", std::string("vbios ") + firmware.data() + (has_gsp ? std::string(" gsp ") + gsp.data() : ""),
               "nvmlDeviceGetVbiosVersion");
    else
      out.unknown("firmware", reason("nvmlDeviceGetVbiosVersion", vbios), "nvmlDeviceGetVbiosVersion");
    if (facts_.module_loading.empty())
      out.unknown("module_loading", "the driver does not tell", "cuModuleGetLoadingMode");
    else
      out.text("module_loading", facts_.module_loading, "cuModuleGetLoadingMode");
  }

  void write_throttle(const FieldWriter& out) const {
    unsigned long long reasons = 0;
    const char* name = "nvmlDeviceGetCurrentClocksEventReasons";
    int status = nvml_.call(name, board_, &reasons);
    if (status == nvml_missing) {  // its name before NVML 12.2
      name = "nvmlDeviceGetCurrentClocksThrottleReasons";
      status = nvml_.call(name, board_, &reasons);
    }
    if (found_ == nvml_ok && status == nvml_ok)
      out.text("throttle_reasons", throttle_text(reasons), name);
    else
      out.unknown("throttle_reasons", reason(name, status), name);
  }

  [[nodiscard]] Processes list_processes() const {
    static constexpr const char* name = "nvmlDeviceGetComputeRunningProcesses_v3";
    Processes result{nvml_ok, name, std::vector<NvmlProcess>(16)};
    for (int attempt = 0; attempt < 4; ++attempt) {  // the list may grow between two calls
      auto count = static_cast<unsigned>(result.list.size());
      result.status = nvml_.call(name, handle_, &count, result.list.data());
      if (result.status == nvml_insufficient_size) {
        result.list.resize(static_cast<std::size_t>(count) + 16);
        continue;
      }
      result.list.resize(result.status == nvml_ok ? count : 0);
      break;
    }
    return result;
  }

  [[nodiscard]] static std::int64_t count_others(const std::vector<NvmlProcess>& list) {
    std::int64_t others = 0;
    for (const auto& process : list)
      if (process.pid != static_cast<unsigned>(::getpid())) ++others;
    return others;
  }

  BoardQuery query_;
  RuntimeFacts facts_;
  Files files_;
  Nvml nvml_;
  NvmlDevice handle_ = nullptr;  // the device or slice
  NvmlDevice board_ = nullptr;   // the whole board
  int found_ = nvml_ok;
  bool is_mig_ = false;
};

}  // namespace

std::unique_ptr<Board> open_nvml_board(const BoardQuery& query, const RuntimeFacts& facts, const LibraryLoader& load,
                                       const std::string& root) {
  return std::make_unique<NvmlBoard>(query, facts, load, root);
}

}  // namespace assay::gpu::cuda
