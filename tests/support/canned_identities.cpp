// SPDX-License-Identifier: Apache-2.0
// Three whole boards, and every other situation as a few fields that differ from one of them.
#include "tests/support/canned_identities.hpp"

#include <algorithm>
#include <utility>

namespace assay::canned {
namespace {

using Fields = std::vector<Field>;

Field text(std::string key, std::string value) {
  return {std::move(key), Kind::text, std::move(value), 0};
}
Field number(std::string key, std::int64_t value) {
  return {std::move(key), Kind::integer, "", value};
}
Field flag(std::string key, bool value) {
  return {std::move(key), Kind::boolean, "", value ? 1 : 0};
}
Field unknown(std::string key, std::string reason) {
  return {std::move(key), Kind::unknown, std::move(reason), 0};
}

Fields with(Fields base, const Fields& changes) {
  for (const auto& change : changes) {
    const auto found =
        std::find_if(base.begin(), base.end(), [&](const auto& field) { return field.key == change.key; });
    if (found == base.end())
      base.push_back(change);
    else
      *found = change;
  }
  return base;
}

Fields common() {
  return {text("execution", "native"),
          text("partition", "none"),
          flag("integrated", false),
          text("ecc", "on"),
          text("clocks", "default"),
          text("code_used", "native"),
          text("virtualization", "none"),
          text("timer", "event"),
          text("fp_flags", "contract"),
          text("compiler_flags", "-O3"),
          text("libraries", "none"),
          text("module_loading", "lazy"),
          text("throttle_reasons", "none"),
          number("other_processes", 0),
          number("vmm_granularity_bytes", 2097152),
          number("l2_cache_bytes", 52428800),
          text("pcie_link", "gen5 x16")};
}

Fields h100() {
  return with(common(), {text("backend", "cuda"),
                         text("platform", "nvidia"),
                         text("pci_vendor", "0x10de"),
                         text("arch", "sm_90"),
                         text("family", "hopper"),
                         text("device_name", "NVIDIA H100 80GB HBM3"),
                         text("pci_device_id", "0x2330"),
                         text("pci_subsystem", "0x10de:0x16c1"),
                         text("pci_revision", "0xa1"),
                         text("uuid", "nvidia:GPU-11111111-aaaa"),
                         text("pci_bdf", "0000:3b:00.0"),
                         number("memory_total_bytes", 85899345920),
                         number("memory_visible_bytes", 85024112640),
                         number("memory_bus_bits", 5120),
                         number("memory_clock_khz", 2619000),
                         number("multiprocessors", 132),
                         number("wave_size", 32),
                         number("shared_memory_bytes", 232448),
                         number("power_cap_watts", 700),
                         number("power_cap_default_watts", 700),
                         flag("mps", false),
                         flag("confidential_compute", false),
                         text("driver", "550.54.15"),
                         text("firmware", "96.00.74.00.01"),
                         text("runtime_version", "12.4"),
                         text("runtime_path", "/opt/assay/libassay-cuda.so"),
                         text("driver_api_version", "12.4"),
                         text("toolkit_compiled", "12.4"),
                         text("compiler", "nvcc 12.4.131"),
                         text("host_compiler", "g++ 12.2.0"),
                         text("embedded_targets", "sm_80,sm_90")});
}

Fields amd() {
  return with(common(), {text("backend", "hip"),
                         text("platform", "amd"),
                         text("pci_vendor", "0x1002"),
                         text("uuid", "amd:7f3b1c9d2e4a5566"),
                         text("pci_bdf", "0000:c1:00.0"),
                         text("pci_subsystem", "0x1002:0x0b0c"),
                         text("pci_revision", "0x01"),
                         number("memory_bus_bits", 8192),
                         number("memory_clock_khz", 1600000),
                         number("wave_size", 64),
                         number("shared_memory_bytes", 65536),
                         text("xnack", "off"),
                         text("sramecc", "on"),
                         text("arch_features", "sramecc+:xnack-"),
                         text("driver", "6.7.0"),
                         text("firmware", "113-D65201"),
                         text("runtime_version", "6.1.40091"),
                         text("runtime_path", "/opt/rocm/lib/libamdhip64.so.6"),
                         text("hsa_runtime_path", "/opt/rocm/lib/libhsa-runtime64.so.1"),
                         text("toolkit_compiled", "6.1.40091"),
                         text("compiler", "clang 17.0.0"),
                         text("embedded_targets", "gfx90a,gfx942"),
                         text("code_object_version", "5")});
}

Fields mi250x() {
  return with(amd(), {text("arch", "gfx90a"), text("arch_physical", "gfx90a"), text("family", "cdna2"),
                      text("device_name", "AMD Instinct MI250X"), text("pci_device_id", "0x7408"),
                      text("partition", "SPX/NPS1"), number("memory_total_bytes", 68702699520),
                      number("memory_visible_bytes", 68702699520), number("multiprocessors", 110),
                      number("power_cap_watts", 560), number("power_cap_default_watts", 560)});
}

Fields mi300x() {
  return with(amd(), {text("arch", "gfx942"), text("arch_physical", "gfx942"), text("family", "cdna3"),
                      text("device_name", "AMD Instinct MI300X"), text("pci_device_id", "0x74a1"),
                      text("partition", "SPX/NPS1"), number("memory_total_bytes", 206141652992),
                      number("memory_visible_bytes", 206141652992), number("multiprocessors", 304),
                      number("power_cap_watts", 750), number("power_cap_default_watts", 750)});
}

Fields nvidia_situation(std::string_view name) {
  if (name == "h100") return h100();
  if (name == "h100-second-board")
    return with(h100(), {text("uuid", "nvidia:GPU-22222222-bbbb"), text("pci_bdf", "0000:5e:00.0")});
  if (name == "h100-upgraded")
    return with(h100(), {text("driver", "580.65.06"), text("runtime_version", "13.0"), text("toolkit_compiled", "13.0"),
                         text("compiler", "nvcc 13.0.48"), text("driver_api_version", "13.0"),
                         number("memory_visible_bytes", 84987740160)});
  if (name == "h100-half-upgraded") return with(h100(), {text("runtime_version", "13.0")});
  if (name == "h100-capped") return with(h100(), {number("power_cap_watts", 500)});
  if (name == "h100-throttled")
    return with(h100(), {text("throttle_reasons", "thermal"), number("other_processes", 2)});
  if (name == "h100-jit") return with(h100(), {text("code_used", "jit")});
  if (name == "h100-no-nvml")
    return with(h100(), {unknown("ecc", "NVML is not there"), unknown("power_cap_watts", "NVML is not there"),
                         unknown("power_cap_default_watts", "NVML is not there")});
  if (name == "h100-mig")
    return with(h100(), {text("partition", "MIG 1g.10gb gi 7 ci 0"), text("uuid", "nvidia:MIG-33333333-cccc"),
                         number("memory_visible_bytes", 10468982784), number("multiprocessors", 16)});
  if (name == "h100-passthrough") return with(h100(), {text("virtualization", "passthrough")});
  // The HIP headers over the CUDA runtime.
  if (name == "h100-by-hip") return with(h100(), {text("backend", "hip")});
  return {};
}

Fields amd_situation(std::string_view name) {
  if (name == "mi250x") return mi250x();
  // A record that says "cuda" because its framework calls every GPU so.
  if (name == "mi250x-called-cuda")
    return with(mi250x(), {text("backend", "cuda"), text("platform", "nvidia"), text("arch", "sm_90")});
  if (name == "mi250x-xnack") return with(mi250x(), {text("xnack", "on"), text("arch_features", "sramecc+:xnack+")});
  // Parts of three releases at once, as distributions ship them.
  if (name == "mi250x-mixture")
    return with(mi250x(), {text("compiler", "clang 21.0.0"), text("toolkit_compiled", "6.4.43484"),
                           text("runtime_version", "6.4.43484"), text("code_object_version", "6"),
                           text("hsa_runtime_path", "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1"),
                           text("runtime_path", "/usr/lib/x86_64-linux-gnu/libamdhip64.so.6")});
  if (name == "mi300x") return mi300x();
  if (name == "mi300x-cpx-slice")
    return with(mi300x(), {text("partition", "CPX/NPS4"), number("multiprocessors", 38),
                           number("memory_visible_bytes", 25769803776)});
  // A board that a forgotten export makes answer as another one.
  if (name == "strix-halo-overridden")
    return with(amd(),
                {text("arch", "gfx1201"), text("arch_physical", "gfx1151"), text("family", "rdna4"),
                 text("device_name", "Radeon 8060S"), text("pci_device_id", "0x1586"), number("wave_size", 32),
                 number("memory_total_bytes", 103079215104), number("multiprocessors", 40), flag("integrated", true)});
  // An emulator that runs HIP on the processor and looks like an AMD board of wave 64.
  if (name == "hip-on-cpu")
    return with(mi250x(),
                {text("device_name", "AMD EPYC"), text("execution", "emulated"), unknown("pci_vendor", "no PCI device"),
                 unknown("pci_device_id", "no PCI device"), unknown("uuid", "no PCI device")});
  // Headers that imitate CUDA: the architecture comes from a macro that they define.
  if (name == "mi250x-imitating-cuda") return with(mi250x(), {text("arch", "sm_130")});
  return {};
}

Fields odd_situation(std::string_view name) {
  if (name == "unregistered") return with(h100(), {text("compute_capability", "9.0")});
  if (name == "contradicting")
    return [] {
      auto fields = h100();
      fields.push_back(text("arch", "sm_80"));
      return fields;
    }();
  if (name == "without-platform") {
    auto fields = h100();
    std::erase_if(fields, [](const auto& field) { return field.key == "platform"; });
    return fields;
  }
  if (name == "host")
    return {text("backend", "host"),
            text("platform", "cpu"),
            text("execution", "native one-thread blocks"),
            text("arch", "x86_64"),
            text("isa_level", "x86-64-v3"),
            text("cpu_signature", "AuthenticAMD-25-17-1"),
            text("device_name", "AMD EPYC"),
            number("memory_total_bytes", 25769803776),
            number("memory_visible_bytes", 12884901888),
            number("multiprocessors", 2),
            number("wave_size", 1),
            text("timer", "steady_clock"),
            text("firmware", "0x1000065"),
            text("runtime_version", "glibc 2.36"),
            text("runtime_path", "/lib/x86_64-linux-gnu/libc.so.6"),
            text("compiler", "g++ 12.2.0"),
            text("compiler_flags", "-O3"),
            text("fp_flags", "-ffp-contract=fast"),
            text("embedded_targets", "x86-64,x86-64-v3"),
            text("libraries", "none"),
            number("other_load", 0),
            number("vmm_granularity_bytes", 4096)};
  if (name == "host-fibres")
    return with(odd_situation("host"), {text("execution", "fibres wave 32"), number("wave_size", 32)});
  if (name == "host-more-memory") return with(odd_situation("host"), {number("memory_total_bytes", 51539607552)});
  if (name == "host-other-cpu") return with(odd_situation("host"), {text("cpu_signature", "GenuineIntel-6-143-8")});
  return {};
}

}  // namespace

std::vector<Field> fields_of(std::string_view name) {
  if (auto fields = nvidia_situation(name); !fields.empty()) return fields;
  if (auto fields = amd_situation(name); !fields.empty()) return fields;
  return odd_situation(name);
}

}  // namespace assay::canned
