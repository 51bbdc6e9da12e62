// SPDX-License-Identifier: Apache-2.0
// The AMD board's reader on a CPU: sysfs, KFD topology and procfs as canned files, AMD's libraries as fakes; and the
// words both boards share.
#include <unistd.h>

#include <cstring>

#include "backends/gpu/family.hpp"
#include "backends/gpu/files.hpp"
#include "backends/gpu/identity.hpp"
#include "backends/hip/amd_board.hpp"
#include "backends/hip/amd_smi.hpp"
#include "tests/contract/gpu_direct.hpp"
#include "tests/support/canned_tree.hpp"

namespace assay::test {
namespace {

const std::string kDevice = "sys/bus/pci/devices/0000:c3:00.0/";
const std::string kNode = "sys/class/kfd/kfd/topology/nodes/1/";

// What the fake libraries answer.
struct FakeSmi {
  bool amd_smi = false;
  bool rocm_smi = false;
  int init = 0;
  int mode = 1;
  int ecc_status = 0;
  std::uint64_t blocks = 0x7;
  std::uint64_t rocm_bdf = 0xc300;
} fake_smi;

int smi_init(std::uint64_t flags) {
  EXPECT_EQ(flags, 2U);
  return fake_smi.init;
}
int smi_handle(std::uint64_t bdf, void** out) {
  *out = &fake_smi;
  return bdf == 0xc300 ? 0 : 1;
}
int smi_ecc(void*, std::uint64_t* out) {
  *out = fake_smi.blocks;
  return fake_smi.ecc_status;
}
int smi_mode(void*, int* out) {
  *out = fake_smi.mode;
  return 0;
}
int rsmi_init(std::uint64_t) {
  return fake_smi.init;
}
int rsmi_count(std::uint32_t* out) {
  *out = 2;
  return 0;
}
int rsmi_bdf(std::uint32_t index, std::uint64_t* out) {
  *out = index == 1 ? fake_smi.rocm_bdf : 0x100;
  return 0;
}
int rsmi_ecc(std::uint32_t index, std::uint64_t* out) {
  EXPECT_EQ(index, 1U);
  *out = fake_smi.blocks;
  return fake_smi.ecc_status;
}

gpu::SymbolLookup load_fake_smi(const char* library) {
  const std::string name(library);
  if (!(name == "libamd_smi.so" && fake_smi.amd_smi) && !(name == "librocm_smi64.so" && fake_smi.rocm_smi)) return {};
  return [](const char* symbol) -> void* {
    static const std::map<std::string, void*> symbols{
        {"amdsmi_init", reinterpret_cast<void*>(&smi_init)},
        {"amdsmi_get_processor_handle_from_bdf", reinterpret_cast<void*>(&smi_handle)},
        {"amdsmi_get_gpu_ecc_enabled", reinterpret_cast<void*>(&smi_ecc)},
        {"amdsmi_get_gpu_virtualization_mode", reinterpret_cast<void*>(&smi_mode)},
        {"rsmi_init", reinterpret_cast<void*>(&rsmi_init)},
        {"rsmi_num_monitor_devices", reinterpret_cast<void*>(&rsmi_count)},
        {"rsmi_dev_pci_id_get", reinterpret_cast<void*>(&rsmi_bdf)},
        {"rsmi_dev_ecc_enabled_get", reinterpret_cast<void*>(&rsmi_ecc)}};
    const auto found = symbols.find(symbol);
    return found == symbols.end() ? nullptr : found->second;
  };
}

class AmdBoard : public testing::Test {
 protected:
  AmdBoard() { fake_smi = FakeSmi{}; }

  void write_tree() {
    tree_.write(kDevice + "vendor", "0x1002\n");
    tree_.write(kDevice + "unique_id", "9246f3c1d5a80e47\n");
    tree_.write(kDevice + "mem_info_vram_total", "68702699520\n");
    tree_.write(kDevice + "mem_info_vram_used", "11067392\n");
    tree_.write(kDevice + "current_compute_partition", "SPX\n");
    tree_.write(kDevice + "current_memory_partition", "NPS1\n");
    tree_.write(kDevice + "vbios_version", "113-D673\n");
    tree_.write(kDevice + "fw_version/smc_fw_version", "0x00443f00\n");
    tree_.write(kDevice + "fw_version/vce_fw_version", "0x00000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/power1_cap", "280000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/power1_cap_default", "560000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/power1_average", "91000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/freq1_input", "800000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/freq2_input", "1600000000\n");
    tree_.write(kDevice + "hwmon/hwmon4/temp1_input", "35000\n");
    tree_.write(kDevice + "gpu_busy_percent", "12\n");
    tree_.write(kDevice + "pp_dpm_mclk", "0: 400Mhz\n1: 1600Mhz *\n");
    tree_.write(kDevice + "power_dpm_force_performance_level", "auto\n");
    tree_.write("sys/module/amdgpu/version", "6.7.0\n");
    tree_.write("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    tree_.write(kNode + "gpu_id", "51234\n");
    tree_.write(kNode + "properties",
                "simd_count 440\nlocation_id 49920\ndomain 0\ngfx_target_version 90010\n"
                "unique_id 18446744073709551615\n");
    tree_.write("sys/class/kfd/kfd/proc/" + std::to_string(getpid()) + "/vram_51234", "4096\n");
    tree_.write("sys/class/kfd/kfd/proc/1/vram_51234", "8192\n");
    tree_.write("sys/class/kfd/kfd/proc/2/vram_51234", "0\n");
  }
  std::unique_ptr<gpu::Board> open(const std::string& uuid = "") {
    return gpu::hip::open_amd_board({0, "0000:c3:00.0", uuid, "gfx90a", "amd"}, load_fake_smi, tree_.root());
  }
  Fields identity() {
    Fields fields;
    open()->identity(gpu::FieldWriter(&collect_field, &fields));
    return fields;
  }
  Fields sensors() {
    Fields fields;
    open()->sensors(gpu::FieldWriter(&collect_field, &fields));
    return fields;
  }

  CannedTree tree_;
};

TEST_F(AmdBoard, StatesWhatTheKernelDriverSays) {
  write_tree();
  auto fields = identity();
  EXPECT_EQ(fields["pci_vendor"], "0x1002");
  EXPECT_EQ(fields["arch_physical"], "gfx90a");
  EXPECT_EQ(fields["partition"], "SPX/NPS1");
  EXPECT_EQ(fields["memory_total_bytes"], "68702699520");
  EXPECT_EQ(fields["memory_clock_khz"], "1600000");
  EXPECT_EQ(fields["power_cap_watts"], "280");
  EXPECT_EQ(fields["power_cap_share"], "500");
  EXPECT_EQ(fields["clocks"], "default");
  EXPECT_EQ(fields["driver"], "amdgpu 6.7.0");
  EXPECT_EQ(fields["firmware"], "vbios 113-D673 smc_fw_version=0x00443f00");
  EXPECT_EQ(fields["mps"].find("n/a"), 0U);
  EXPECT_EQ(open()->uuid(), "amd:9246f3c1d5a80e47");
  EXPECT_EQ(open("amd:fedcba9876543210")->uuid(), "amd:fedcba9876543210");
  EXPECT_EQ(open()->used_bytes().value, 11067392);
  EXPECT_EQ(open()->process_bytes().value, 4096);
  auto read = sensors();
  EXPECT_EQ(read["clock_khz"], "800000");
  EXPECT_EQ(read["temperature_celsius"], "35");
  EXPECT_EQ(read["power_milliwatts"], "91000");
  EXPECT_EQ(read["utilization_percent"], "12");
  EXPECT_EQ(read["other_processes"], "1");
  EXPECT_EQ(read["throttle_reasons"].find("unknown"), 0U);
}

TEST_F(AmdBoard, WithoutFilesEverythingIsUnknownWithAReason) {
  auto fields = identity();
  for (const char* key : {"pci_vendor", "arch_physical", "partition", "memory_total_bytes", "ecc", "power_cap_share",
                          "clocks", "virtualization", "driver", "firmware", "memory_clock_khz", "power_cap_watts"})
    EXPECT_EQ(fields[key].find("unknown: "), 0U) << key;
  EXPECT_EQ(sensors()["other_processes"].find("unknown"), 0U);
  EXPECT_EQ(open()->uuid(), "");
  EXPECT_FALSE(open()->used_bytes().value);
  EXPECT_FALSE(open()->process_bytes().value);
}

TEST_F(AmdBoard, LesserDriversAreReadAsFarAsTheyGo) {
  write_tree();
  tree_.remove(kDevice + "current_memory_partition");
  EXPECT_EQ(identity()["partition"], "SPX");
  tree_.remove(kDevice + "current_compute_partition");
  EXPECT_EQ(identity()["partition"], "none");
  tree_.remove("sys/module/amdgpu/version");
  tree_.write("proc/sys/kernel/osrelease", "6.1.0\n");
  EXPECT_EQ(identity()["driver"], "amdgpu in-tree 6.1.0");
  tree_.write(kNode + "properties", "location_id 49920\ndomain 0\n");
  EXPECT_EQ(identity()["arch_physical"].find("unknown"), 0U);
  tree_.remove("sys/class/kfd/kfd/proc/" + std::to_string(getpid()));
  EXPECT_FALSE(open()->process_bytes().value);
  tree_.write(kDevice + "power_dpm_force_performance_level", "profile_peak\n");
  EXPECT_EQ(identity()["clocks"], "profile_peak");
  tree_.write(kDevice + "ras/features", "feature mask: 0x7\n");
  EXPECT_EQ(identity()["ecc"], "feature mask: 0x7");
  tree_.write(kDevice + "ras/features", "feature mask: 0x0\n");
  EXPECT_EQ(identity()["ecc"], "off");
}

TEST_F(AmdBoard, LibrariesTellEccAndVirtualization) {
  write_tree();
  fake_smi.amd_smi = true;
  EXPECT_EQ(identity()["ecc"], "on 0x7");
  EXPECT_EQ(identity()["virtualization"], "none");
  const std::map<int, std::string> modes{{2, "vgpu"}, {3, "vgpu"}, {4, "passthrough"}};
  for (const auto& [mode, word] : modes) {
    fake_smi.mode = mode;
    EXPECT_EQ(identity()["virtualization"], word);
  }
  fake_smi.mode = 0;
  EXPECT_EQ(identity()["virtualization"].find("unknown"), 0U);
  fake_smi.blocks = 0;
  EXPECT_EQ(identity()["ecc"], "off");
  fake_smi.init = 5;
  EXPECT_EQ(identity()["ecc"].find("unknown: amd_smi does not know the board"), 0U);
  fake_smi = FakeSmi{};
  fake_smi.rocm_smi = true;
  EXPECT_EQ(identity()["ecc"], "on 0x7");
  EXPECT_EQ(identity()["virtualization"].find("unknown"), 0U);
  fake_smi.rocm_bdf = 0x200;
  EXPECT_EQ(identity()["ecc"].find("unknown: rocm_smi does not list the board"), 0U);
  fake_smi.init = 5;
  EXPECT_EQ(identity()["ecc"].find("unknown: rocm_smi does not initialise"), 0U);
  const gpu::hip::AmdSmi nowhere(load_fake_smi, std::nullopt);
  EXPECT_FALSE(nowhere.ecc_blocks());
}

TEST(AmdMetrics, ThrottlingIsReadFromTheVersionsThatAreKnown) {
  const auto metrics = [](char version, std::size_t offset, std::uint32_t status) {
    std::string bytes(256, '\0');
    bytes[2] = 1;
    bytes[3] = version;
    std::memcpy(bytes.data() + offset, &status, sizeof status);
    return bytes;
  };
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(3, 68, 0)), "none");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(3, 68, 0x10)), "status 0x10");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(4, 40, 2)), "status 0x2");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(5, 104, 2)), "status 0x2");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(1, 68, 0xFFFFFFFF)), "");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(9, 68, 1)), "");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(""), "");
  EXPECT_EQ(gpu::hip::throttle_from_metrics(metrics(3, 68, 1).substr(0, 60)), "");
  EXPECT_EQ(gpu::hip::highest_clock_khz("nothing here"), 0);
  CannedTree tree;
  tree.write("sys/bus/pci/devices/0000:c3:00.0/gpu_metrics", metrics(3, 68, 4));
  Fields read;
  gpu::hip::open_amd_board({0, "0000:c3:00.0", "", "", ""}, load_fake_smi, tree.root())
      ->sensors(gpu::FieldWriter(&collect_field, &read));
  EXPECT_EQ(read["throttle_reasons"], "status 0x4");
}

TEST(GpuWords, ArchitecturesFamiliesVersionsAndAddresses) {
  EXPECT_EQ(gpu::split_architecture("gfx90a:sramecc+:xnack-").base, "gfx90a");
  EXPECT_EQ(gpu::split_architecture("sm_90").features, "");
  EXPECT_EQ(gpu::feature_state("sramecc+", "xnack"), "unsupported");
  EXPECT_EQ(gpu::feature_state("xnack", "xnack"), "unsupported");
  const std::map<std::string, std::string> families{{"sm_80", "ampere"},     {"sm_89", "ada"},    {"sm_90", "hopper"},
                                                    {"sm_100", "blackwell"}, {"gfx942", "cdna3"}, {"gfx1030", "rdna2"},
                                                    {"gfx1100", "rdna3"},    {"gfx906", "gcn5"},  {"gfx9999", ""}};
  for (const auto& [base, family] : families) EXPECT_EQ(gpu::family_of(base), family) << base;
  EXPECT_EQ(gpu::gfx_name(90010), "gfx90a");
  EXPECT_EQ(gpu::gfx_name(110000), "gfx1100");
  EXPECT_EQ(gpu::gfx_name(0), "");
  EXPECT_EQ(gpu::version_text(13000), "13.0");
  EXPECT_EQ(gpu::version_text(50221153), "5.2.21153");
  EXPECT_EQ(gpu::execution_kind("NVIDIA A100 [ZLUDA]", false), "emulated");
  EXPECT_EQ(gpu::execution_kind("AMD Instinct", true), "override");
  const char* set[] = {"PATH=/bin", "HSA_OVERRIDE_GFX_VERSION_1=", nullptr};
  const char* other[] = {"HSA_OVERRIDE_GFX_VERSIONS=1", nullptr};
  EXPECT_TRUE(gpu::has_architecture_override(set));
  EXPECT_FALSE(gpu::has_architecture_override(other));
  EXPECT_FALSE(gpu::has_architecture_override(nullptr));
  EXPECT_EQ(gpu::parse_integer("0x1002"), 0x1002);
  EXPECT_FALSE(gpu::parse_integer("none"));
  EXPECT_FALSE(gpu::parse_integer("99999999999999999999"));
  EXPECT_FALSE(gpu::hip::parse_bdf("0000:c3:00"));
  CannedTree tree;
  tree.write("empty", " \n");
  EXPECT_EQ(gpu::Files(tree.root()).text("empty"), "");
  EXPECT_FALSE(gpu::hip::find_kfd_node(gpu::Files(tree.root()), "elsewhere"));
  EXPECT_EQ(gpu::library_path(nullptr), "");
  EXPECT_FALSE(gpu::load_library("libassay-is-not-there.so"));
  const auto maths = gpu::load_library("libm.so.6");
  ASSERT_TRUE(maths);
  EXPECT_NE(maths("cos"), nullptr);
  EXPECT_NE(gpu::loaded_library_path("libm.so.6", "cos").find("libm"), std::string::npos);
  EXPECT_EQ(gpu::loaded_library_path("libassay-is-not-there.so", "cos"), "");
}

// Every meaning of the error numbers, as the table sees them.
TEST(GpuWords, ErrorNumbersHaveOneMeaning) {
  const std::map<int, assay_status> meanings{{0, ASSAY_OK},
                                             {1, ASSAY_INVALID_VALUE},
                                             {2, ASSAY_OUT_OF_MEMORY},
                                             {3, ASSAY_INTERNAL},
                                             {4, ASSAY_DEVICE_LOST},
                                             {35, ASSAY_NO_DEVICE},
                                             {46, ASSAY_NO_DEVICE},
                                             {98, ASSAY_INTERNAL},
                                             {100, ASSAY_NO_DEVICE},
                                             {101, ASSAY_INVALID_VALUE},
                                             {209, ASSAY_UNSUPPORTED},
                                             {214, ASSAY_DEVICE_LOST},
                                             {400, ASSAY_INVALID_VALUE},
                                             {600, ASSAY_NOT_READY},
                                             {700, ASSAY_KERNEL_FAULT},
                                             {701, ASSAY_INVALID_VALUE},
                                             {709, ASSAY_DEVICE_LOST},
                                             {719, ASSAY_KERNEL_FAULT},
                                             {801, ASSAY_UNSUPPORTED},
                                             {900, ASSAY_INVALID_VALUE},
                                             {908, ASSAY_INVALID_VALUE},
                                             {999, ASSAY_INTERNAL},
                                             {1052, ASSAY_INTERNAL}};
  for (const auto& [number, status] : meanings) EXPECT_EQ(gpu::classify(number), status) << number;
}

}  // namespace
}  // namespace assay::test
