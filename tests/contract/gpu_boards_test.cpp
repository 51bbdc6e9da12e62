// SPDX-License-Identifier: Apache-2.0
// The NVIDIA board's reader on a CPU: NVML as a fake library, sysfs as a folder of canned files.
#include <unistd.h>

#include <cstring>

#include "backends/cuda/nvml.hpp"
#include "backends/cuda/nvml_board.hpp"
#include "tests/contract/gpu_direct.hpp"
#include "tests/support/canned_tree.hpp"

namespace assay::test {
namespace {

using gpu::cuda::NvmlAttributes;
using gpu::cuda::NvmlConfidential;
using gpu::cuda::NvmlMemoryV2;
using gpu::cuda::NvmlProcess;
using gpu::cuda::NvmlUtilization;

// What the fake library answers.
struct FakeNvml {
  std::map<std::string, int> status;  // by function, 0 where not named; -1: the function is not in the library
  bool is_mig = false;
  unsigned mig_mode = 0;
  unsigned mode = 0;
  unsigned default_mw = 700000;
  unsigned processes = 2;
  std::uint64_t process_bytes = 1000;
  unsigned application_clock = 1410;
  unsigned long long throttle = 0;
} fake;
int board_tag = 0;
int slice_tag = 0;

int answer(const char* name) {
  return fake.status.count(name) != 0 ? fake.status[name] : 0;
}

int fake_init() {
  return answer("nvmlInit_v2");
}
int fake_by_uuid(const char* uuid, void** out) {
  if (!fake.is_mig || std::strncmp(uuid, "MIG-", 4) != 0) return 6;
  *out = &slice_tag;
  return 0;
}
int fake_by_pci(const char* bdf, void** out) {
  if (std::strcmp(bdf, "0000:41:00.0") != 0) return 6;
  *out = &board_tag;
  return answer("nvmlDeviceGetHandleByPciBusId_v2");
}
int fake_parent(void*, void** out) {
  *out = &board_tag;
  return answer("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
}
int fake_memory(void* device, NvmlMemoryV2* out) {
  EXPECT_EQ(out->version, 40U | (2U << 24U));
  out->total = device == &slice_tag ? 10ULL << 30U : 80ULL << 30U;
  out->used = 3ULL << 30U;
  return answer("nvmlDeviceGetMemoryInfo_v2");
}
int fake_number(void*, unsigned* out, unsigned value, const char* name) {
  *out = value;
  return answer(name);
}
int fake_max_clock(void* d, unsigned, unsigned* out) {
  return fake_number(d, out, 2619, "nvmlDeviceGetMaxClockInfo");
}
int fake_clock(void* d, unsigned, unsigned* out) {
  return fake_number(d, out, 1200, "nvmlDeviceGetClockInfo");
}
int fake_temperature(void* d, unsigned, unsigned* out) {
  return fake_number(d, out, 41, "nvmlDeviceGetTemperature");
}
int fake_power(void* d, unsigned* out) {
  return fake_number(d, out, 123456, "nvmlDeviceGetPowerUsage");
}
int fake_enforced(void* d, unsigned* out) {
  return fake_number(d, out, 350000, "nvmlDeviceGetEnforcedPowerLimit");
}
int fake_default(void* d, unsigned* out) {
  return fake_number(d, out, fake.default_mw, "nvmlDeviceGetPowerManagementDefaultLimit");
}
int fake_application(void* d, unsigned, unsigned* out) {
  return fake_number(d, out, fake.application_clock, "nvmlDeviceGetApplicationsClock");
}
int fake_usual(void* d, unsigned, unsigned* out) {
  return fake_number(d, out, 1410, "nvmlDeviceGetDefaultApplicationsClock");
}
int fake_mode(void* d, unsigned* out) {
  return fake_number(d, out, fake.mode, "nvmlDeviceGetVirtualizationMode");
}
int fake_instance(void* d, unsigned* out) {
  return fake_number(d, out, 7, "nvmlDeviceGetGpuInstanceId");
}
int fake_mig(void*, unsigned* now, unsigned* next) {
  *now = *next = fake.mig_mode;
  return answer("nvmlDeviceGetMigMode");
}
int fake_ecc(void*, unsigned* now, unsigned* next) {
  *now = *next = 1;
  return answer("nvmlDeviceGetEccMode");
}
int fake_attributes(void*, NvmlAttributes* out) {
  out->gpu_slices = out->compute_slices = 1;
  out->memory_mib = 9728;
  return answer("nvmlDeviceGetAttributes_v2");
}
int fake_utilization(void*, NvmlUtilization* out) {
  out->gpu = 55;
  return answer("nvmlDeviceGetUtilizationRates");
}
int fake_confidential(NvmlConfidential* out) {
  out->feature = 1;
  return answer("nvmlSystemGetConfComputeState");
}
int fake_driver(char* out, unsigned bytes) {
  std::strncpy(out, "580.82.07", bytes);
  return answer("nvmlSystemGetDriverVersion");
}
int fake_vbios(void*, char* out, unsigned bytes) {
  std::strncpy(out, "96.00.99", bytes);
  return answer("nvmlDeviceGetVbiosVersion");
}
int fake_gsp(void*, char* out) {
  std::strcpy(out, "580.82.07");
  return answer("nvmlDeviceGetGspFirmwareVersion");
}
int fake_reasons(void*, unsigned long long* out) {
  *out = fake.throttle;
  return 0;
}
int fake_processes(void*, unsigned* count, NvmlProcess* out) {
  const unsigned room = std::exchange(*count, fake.processes);
  if (room < fake.processes) return 7;
  for (unsigned i = 0; i < fake.processes; ++i)
    out[i] = {i == 0 ? static_cast<unsigned>(getpid()) : 1000000 + i, fake.process_bytes, 0, 0};
  return answer("nvmlDeviceGetComputeRunningProcesses_v3");
}

gpu::SymbolLookup load_fake(const char* library) {
  if (std::string(library) != "libnvidia-ml.so.1") return {};
  return [](const char* name) -> void* {
    static const std::map<std::string, void*> symbols{
        {"nvmlInit_v2", reinterpret_cast<void*>(&fake_init)},
        {"nvmlDeviceGetHandleByUUID", reinterpret_cast<void*>(&fake_by_uuid)},
        {"nvmlDeviceGetHandleByPciBusId_v2", reinterpret_cast<void*>(&fake_by_pci)},
        {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle", reinterpret_cast<void*>(&fake_parent)},
        {"nvmlDeviceGetMemoryInfo_v2", reinterpret_cast<void*>(&fake_memory)},
        {"nvmlDeviceGetMaxClockInfo", reinterpret_cast<void*>(&fake_max_clock)},
        {"nvmlDeviceGetClockInfo", reinterpret_cast<void*>(&fake_clock)},
        {"nvmlDeviceGetTemperature", reinterpret_cast<void*>(&fake_temperature)},
        {"nvmlDeviceGetPowerUsage", reinterpret_cast<void*>(&fake_power)},
        {"nvmlDeviceGetEnforcedPowerLimit", reinterpret_cast<void*>(&fake_enforced)},
        {"nvmlDeviceGetPowerManagementDefaultLimit", reinterpret_cast<void*>(&fake_default)},
        {"nvmlDeviceGetApplicationsClock", reinterpret_cast<void*>(&fake_application)},
        {"nvmlDeviceGetDefaultApplicationsClock", reinterpret_cast<void*>(&fake_usual)},
        {"nvmlDeviceGetVirtualizationMode", reinterpret_cast<void*>(&fake_mode)},
        {"nvmlDeviceGetGpuInstanceId", reinterpret_cast<void*>(&fake_instance)},
        {"nvmlDeviceGetComputeInstanceId", reinterpret_cast<void*>(&fake_instance)},
        {"nvmlDeviceGetMigMode", reinterpret_cast<void*>(&fake_mig)},
        {"nvmlDeviceGetEccMode", reinterpret_cast<void*>(&fake_ecc)},
        {"nvmlDeviceGetAttributes_v2", reinterpret_cast<void*>(&fake_attributes)},
        {"nvmlDeviceGetUtilizationRates", reinterpret_cast<void*>(&fake_utilization)},
        {"nvmlSystemGetConfComputeState", reinterpret_cast<void*>(&fake_confidential)},
        {"nvmlSystemGetDriverVersion", reinterpret_cast<void*>(&fake_driver)},
        {"nvmlDeviceGetVbiosVersion", reinterpret_cast<void*>(&fake_vbios)},
        {"nvmlDeviceGetGspFirmwareVersion", reinterpret_cast<void*>(&fake_gsp)},
        {"nvmlDeviceGetCurrentClocksEventReasons", reinterpret_cast<void*>(&fake_reasons)},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", reinterpret_cast<void*>(&fake_reasons)},
        {"nvmlDeviceGetComputeRunningProcesses_v3", reinterpret_cast<void*>(&fake_processes)}};
    const auto found = symbols.find(name);
    return found == symbols.end() || answer(name) == -1 ? nullptr : found->second;
  };
}

class NvidiaBoard : public testing::Test {
 protected:
  NvidiaBoard() { fake = FakeNvml{}; }

  std::unique_ptr<gpu::Board> open(const gpu::LibraryLoader& load = load_fake) {
    return gpu::cuda::open_nvml_board({0, "0000:41:00.0", "nvidia:GPU-1234-5678", "sm_90", "nvidia"}, facts_, load,
                                      tree_.root());
  }
  Fields identity(const gpu::LibraryLoader& load = load_fake) {
    Fields fields;
    open(load)->identity(gpu::FieldWriter(&collect_field, &fields));
    return fields;
  }
  Fields sensors() {
    Fields fields;
    open()->sensors(gpu::FieldWriter(&collect_field, &fields));
    return fields;
  }

  CannedTree tree_;
  gpu::cuda::RuntimeFacts facts_{"lazy", false};
};

TEST_F(NvidiaBoard, StatesWhatNvmlAndSysfsSay) {
  const std::string folder = "sys/bus/pci/devices/0000:41:00.0/";
  tree_.write(folder + "vendor", "0x10de\n");
  tree_.write(folder + "device", "0x2330\n");
  tree_.write(folder + "subsystem_vendor", "0x10de\n");
  tree_.write(folder + "subsystem_device", "0x16c1\n");
  tree_.write(folder + "revision", "0xa1\n");
  tree_.write(folder + "current_link_speed", "32.0 GT/s PCIe\n");
  tree_.write(folder + "current_link_width", "16\n");
  auto fields = identity();
  EXPECT_EQ(fields["pci_vendor"], "0x10de");
  EXPECT_EQ(fields["pci_device_id"], "0x2330");
  EXPECT_EQ(fields["pci_subsystem"], "0x10de:0x16c1");
  EXPECT_EQ(fields["pci_revision"], "0xa1");
  EXPECT_EQ(fields["pcie_link"], "32.0 GT/s PCIe x16");
  EXPECT_EQ(fields["memory_total_bytes"], std::to_string(80ULL << 30U));
  EXPECT_EQ(fields["memory_clock_khz"], "2619000");
  EXPECT_EQ(fields["partition"], "none");
  EXPECT_EQ(fields["ecc"], "on");
  EXPECT_EQ(fields["power_cap_watts"], "350");
  EXPECT_EQ(fields["power_cap_share"], "500");
  EXPECT_EQ(fields["clocks"], "default");
  EXPECT_EQ(fields["virtualization"], "none");
  EXPECT_EQ(fields["mps"], "0");
  EXPECT_EQ(fields["confidential_compute"], "1");
  EXPECT_EQ(fields["driver"], "580.82.07");
  EXPECT_EQ(fields["firmware"], "vbios 96.00.99 gsp 580.82.07");
  EXPECT_EQ(fields["module_loading"], "lazy");
  EXPECT_EQ(open()->uuid(), "nvidia:GPU-1234-5678");
}

TEST_F(NvidiaBoard, WithoutNvmlEverythingIsUnknownWithTheReason) {
  const auto fields = identity([](const char*) { return gpu::SymbolLookup{}; });
  for (const char* key : {"memory_total_bytes", "partition", "ecc", "power_cap_share", "clocks", "virtualization",
                          "confidential_compute", "driver", "firmware"})
    EXPECT_EQ(fields.at(key), "unknown: libnvidia-ml.so.1 is not installed") << key;
  EXPECT_EQ(fields.at("pci_vendor").find("unknown"), 0U);
  fake.status["nvmlInit_v2"] = 9;
  EXPECT_EQ(identity().at("driver"), "unknown: NVML does not initialise (error 9)");
}

TEST_F(NvidiaBoard, EveryFunctionMayBeMissingOrFail) {
  const std::size_t all = identity().size();
  ASSERT_GE(all, 20U);
  for (const int status : {-1, 3, 4}) {
    for (const char* name :
         {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMigMode",
          "nvmlDeviceGetEccMode", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementDefaultLimit",
          "nvmlDeviceGetApplicationsClock", "nvmlDeviceGetVirtualizationMode", "nvmlSystemGetConfComputeState",
          "nvmlSystemGetDriverVersion", "nvmlDeviceGetVbiosVersion", "nvmlDeviceGetGspFirmwareVersion",
          "nvmlDeviceGetComputeRunningProcesses_v3"}) {
      fake = FakeNvml{};
      fake.status[name] = status;
      const auto fields = identity();
      EXPECT_EQ(fields.size(), all) << name << " " << status;
      const Fields read = sensors();
      EXPECT_EQ(read.size(), 8U) << name;
      if (status == -1 && std::string(name) == "nvmlDeviceGetMemoryInfo_v2") {
        EXPECT_EQ(fields.at("memory_total_bytes"), "unknown: this NVML has no nvmlDeviceGetMemoryInfo_v2");
      }
    }
  }
  fake = FakeNvml{};
  fake.status["nvmlDeviceGetEccMode"] = 3;
  EXPECT_EQ(identity().at("ecc"), "off") << "a board without ECC has it off";
  fake.default_mw = 0;
  EXPECT_EQ(identity().at("power_cap_share").find("unknown"), 0U);
  facts_ = {"", std::nullopt};
  EXPECT_EQ(identity().at("mps").find("unknown"), 0U);
  EXPECT_EQ(identity().at("module_loading").find("unknown"), 0U);
}

TEST_F(NvidiaBoard, ASliceIsNotTheBoard) {
  fake.is_mig = true;
  EXPECT_EQ(open()->uuid(), "nvidia:MIG-1234-5678");
  auto fields = identity();
  EXPECT_EQ(fields["partition"], "MIG 1c.1g.9728mib gi7 ci7");
  EXPECT_EQ(fields["memory_total_bytes"], std::to_string(10ULL << 30U));
  fake.status["nvmlDeviceGetAttributes_v2"] = 3;
  EXPECT_EQ(identity()["partition"].find("unknown"), 0U);
  fake.status["nvmlDeviceGetDeviceHandleFromMigDeviceHandle"] = 3;
  fields = identity();
  EXPECT_EQ(fields["ecc"].find("unknown"), 0U);
  EXPECT_EQ(fields["firmware"].find("unknown"), 0U);
  fake.is_mig = false;
  fake.mig_mode = 1;
  EXPECT_EQ(identity()["partition"].find("unknown"), 0U) << "MIG is on and the device is no slice";
}

TEST_F(NvidiaBoard, SensorsAndProcesses) {
  fake.mode = 2;
  fake.application_clock = 900;
  EXPECT_EQ(identity()["virtualization"], "vgpu");
  EXPECT_EQ(identity()["clocks"], "application 900 MHz");
  fake.mode = 1;
  EXPECT_EQ(identity()["virtualization"], "passthrough");
  fake.throttle = 0x4 | 0x40;
  auto read = sensors();
  EXPECT_EQ(read["throttle_reasons"], "power_cap,thermal_hardware");
  EXPECT_EQ(read["clock_khz"], "1200000");
  EXPECT_EQ(read["temperature_celsius"], "41");
  EXPECT_EQ(read["power_milliwatts"], "123456");
  EXPECT_EQ(read["utilization_percent"], "55");
  EXPECT_EQ(read["other_processes"], "1");
  EXPECT_EQ(read["used_bytes"], std::to_string(3ULL << 30U));
  fake.processes = 40;  // more than fit at first
  EXPECT_EQ(sensors()["other_processes"], "39");
  EXPECT_EQ(open()->process_bytes().value, 1000);
  fake.process_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(open()->process_bytes().value);
  fake.processes = 0;
  EXPECT_FALSE(open()->process_bytes().value);
  fake.status["nvmlDeviceGetComputeRunningProcesses_v3"] = 4;
  EXPECT_FALSE(open()->process_bytes().value);
  fake.status["nvmlDeviceGetCurrentClocksEventReasons"] = -1;  // its older name is tried
  EXPECT_EQ(sensors()["throttle_reasons"], "power_cap,thermal_hardware");
  fake.status["nvmlDeviceGetCurrentClocksThrottleReasons"] = -1;
  EXPECT_EQ(sensors()["throttle_reasons"].find("unknown"), 0U);
  EXPECT_EQ(gpu::cuda::throttle_text(0x1 | 0x2), "none");
}

}  // namespace
}  // namespace assay::test
