// SPDX-License-Identifier: Apache-2.0
// The registry of identity fields: each key with its tier, the platforms it exists on, who states it and what it means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "results-schema/types/identity.hpp"

namespace assay {

// Whose hardware executes, as bits so that a rule can name several.
enum class Platform : std::uint8_t { cpu = 1, nvidia = 2, amd = 4 };

[[nodiscard]] constexpr std::optional<Platform> parse_platform(std::string_view text) {
  if (text == "cpu") return Platform::cpu;
  if (text == "nvidia") return Platform::nvidia;
  if (text == "amd") return Platform::amd;
  return std::nullopt;
}

// What a difference in the field can decide.
enum class Scope : std::uint8_t {
  everything,   // every result of the device
  memory_only,  // memory results; timings stay comparable
  case_only     // the one case that carries it; such fields stand in the case, not in the device's identity
};

// Who states the field.
enum class Origin : std::uint8_t {
  build,    // the module, from describe(): known without a device
  board,    // the module, from device_identity()
  sensor,   // the module, from device_sensors(): read at the time of the identity
  program,  // the program, from the system or from the other fields
  plan      // the program, from what it was asked to run
};

// One row of the registry. A field that is not of its platform is not_applicable there, and nowhere else.
struct FieldRule {
  std::string_view key;
  Tier tier;         // on GPUs
  Tier tier_on_cpu;  // on the host backend
  std::uint8_t platforms;
  Scope scope;
  Origin origin;
  std::string_view meaning;

  [[nodiscard]] constexpr bool applies_to(Platform platform) const {
    return (platforms & static_cast<std::uint8_t>(platform)) != 0;
  }
  [[nodiscard]] constexpr Tier tier_on(Platform platform) const {
    return platform == Platform::cpu ? tier_on_cpu : tier;
  }
};

namespace registry_detail {
inline constexpr std::uint8_t kCpu = 1, kNvidia = 2, kAmd = 4, kGpu = kNvidia | kAmd, kAll = kCpu | kGpu;

constexpr FieldRule rule(std::string_view key, Tier tier, std::uint8_t platforms, Origin origin,
                         std::string_view meaning, Scope scope = Scope::everything) {
  return {key, tier, tier, platforms, scope, origin, meaning};
}
// The tier on the host differs from the tier on GPUs.
constexpr FieldRule split(std::string_view key, Tier on_gpu, Tier on_cpu, std::uint8_t platforms, Origin origin,
                          std::string_view meaning) {
  return {key, on_gpu, on_cpu, platforms, Scope::everything, origin, meaning};
}
using enum Tier;
using enum Origin;
}  // namespace registry_detail

// Every field of an identity, in the order documents and screens show them. Integers unless "text" or "boolean" is
// said; values are lower case where they are words of ours.
inline constexpr auto kFieldRules = [] {
  using namespace registry_detail;
  return std::array{
      // What executes.
      rule("backend", thing, kAll, build, "text: cuda, hip or host"),
      rule("platform", thing, kAll, build, "text: nvidia, amd or cpu, whose hardware executes"),
      rule("execution", thing, kAll, board,
           "text: native, or emulated; on the host: native one-thread blocks, or fibres wave N"),
      rule("pci_vendor", thing, kGpu, board, "text: vendor read from the system at run time, 0x10de or 0x1002"),
      rule("arch", thing, kAll, board, "text: sm_90, gfx90a (without features), x86_64"),
      rule("arch_features", thing, kAmd, board, "text: features after the architecture, e.g. sramecc+:xnack-, or none"),
      rule("arch_physical", thing, kAmd, board,
           "text: architecture as the kernel driver states it, no override applied"),
      rule("isa_level", thing, kCpu, board, "text: instruction set level the host kernels use, e.g. x86-64-v3"),
      rule("family", thing, kGpu, board, "text: hopper, cdna2, rdna3..."),
      split("cpu", info, thing, kAll, program, "text: processor model"),
      rule("cpu_signature", thing, kCpu, board, "text: vendor-family-model-stepping from cpuid"),
      rule("device_name", info, kAll, board, "text: marketing name; never decides"),
      rule("pci_device_id", thing, kGpu, board, "text: 0x2330"),
      rule("pci_subsystem", thing, kGpu, board, "text: subsystem vendor and device, 0x10de:0x16c1"),
      rule("pci_revision", thing, kGpu, board, "text: 0xa1"),
      rule(
          "uuid", info, kAll, board,
          "text with a scheme, nvidia:GPU-..., amd:<unique_id>, host:<hash of machine id>; equal means the same board"),
      rule("pci_bdf", info, kGpu, board, "text: 0000:3b:00.0"),
      rule("partition", thing, kGpu, board,
           "text: none, a MIG profile and its instance ids, or compute/memory mode (SPX/NPS1)"),
      split("memory_total_bytes", thing, change, kAll, board, "physical memory of the device"),
      rule("memory_visible_bytes", change, kAll, board, "memory the runtime shows of it; the budget on the host"),
      rule("memory_bus_bits", thing, kGpu, board, "width of the memory bus"),
      rule("memory_clock_khz", change, kGpu, board, "highest memory clock"),
      rule("integrated", thing, kGpu, board, "boolean: shares its memory with the processor"),
      rule("multiprocessors", thing, kAll, board, "multiprocessors, compute units, or worker threads on the host"),
      rule("wave_size", thing, kAll, board, "lanes of a warp or wave of the code used; 1 on the host without fibres"),
      rule("shared_memory_bytes", thing, kGpu, board, "largest shared memory of a block"),
      rule("l2_cache_bytes", info, kGpu, board, "last-level cache as the runtime states it"),
      rule("ecc", thing, kGpu, board, "text: on or off, or the blocks it covers"),
      rule("xnack", thing, kAmd, board, "text: on, off or unsupported"),
      rule("sramecc", thing, kAmd, board, "text: on, off or unsupported"),
      rule("power_cap_share", thing, kGpu, board, "enforced power cap over the default one, in thousandths"),
      rule("power_cap_watts", info, kGpu, board, "enforced power cap"),
      rule("power_cap_default_watts", info, kGpu, board, "default power cap"),
      rule("clocks", change, kGpu, board, "text: default, or what was locked"),
      rule("code_used", thing, kGpu, board, "text: native, or jit"),
      rule("virtualization", thing, kGpu, board, "text: none, passthrough (equal to none) or vgpu"),
      rule("mps", thing, kNvidia, board, "boolean: the multi-process service stands between program and board"),
      rule("confidential_compute", thing, kNvidia, board, "boolean"),
      rule("timer", thing, kAll, board, "text: what event timing rests on, e.g. event or steady_clock"),

      // What an upgrade changes.
      rule("driver", change, kGpu, board, "text: kernel driver"),
      rule("kernel_release", change, kAll, program, "text: uname -r"),
      rule("firmware", change, kAll, board, "text: VBIOS and firmware; microcode on the host"),
      rule("runtime_version", change, kAll, board, "text: runtime found at run time; libc on the host"),
      rule("runtime_path", change, kAll, build, "text: file of that runtime; the module itself when it is linked in"),
      rule("runtime_sha256", change, kAll, program, "text: hash of that file"),
      rule("hsa_runtime_path", change, kAmd, build, "text: file of the layer under the runtime"),
      rule("hsa_runtime_sha256", change, kAmd, program, "text: hash of that file"),
      rule("driver_api_version", change, kNvidia, board, "text: newest toolkit the driver accepts"),
      rule("toolkit_compiled", change, kGpu, build, "text: version of the toolkit headers at build"),
      rule("compiler", change, kAll, build, "text: name and version of the kernels' compiler"),
      rule("host_compiler", change, kNvidia, build, "text: name and version of the compiler under nvcc"),
      rule("compiler_flags", change, kAll, build, "text: flags, the floating-point ones apart"),
      rule("fp_flags", thing, kAll, build,
           "text: flags that move numbers: contraction, fast math, flush to zero, reassociation"),
      rule("embedded_targets", change, kAll, build, "text: architectures in the module, comma-separated"),
      rule("code_object_version", change, kAmd, build, "text: version of the code objects"),
      rule("libraries", change, kAll, build, "text: vendor libraries with versions, or none"),
      rule("module_loading", change, kGpu, board, "text: lazy or eager"),
      rule("module_sha256", change, kAll, program, "text: hash of the module's file"),
      rule("suite_version", change, kAll, program, "text"),
      rule("suite_commit", change, kAll, program, "text"),
      rule("open_files_limit", change, kAll, program, "RLIMIT_NOFILE of this process; -1 is unlimited"),
      rule("map_count_limit", change, kAll, program, "vm.max_map_count"),
      rule("environment_list", change, kAll, program,
           "version of the list of variables looked at; one not shown was unset"),

      // What surrounds it.
      split("governor", info, change, kAll, program, "text: frequency governor of the processors"),
      split("numa", info, change, kAll, program, "text: memory nodes online"),
      split("cpuset", info, change, kAll, program, "text: processors this process may use"),
      split("cgroup_memory_bytes", info, change, kAll, program, "memory limit of the control group; -1 is none"),
      rule("container", info, kAll, program, "text: kind of container, or none"),
      rule("os", info, kAll, program, "text: distribution"),
      rule("iommu", info, kAll, program, "text: groups present, or off"),
      rule("pcie_link", info, kGpu, board, "text: generation and width"),
      rule("host_name", info, kAll, program, "text"),
      rule("machine_id", info, kAll, program, "text: hash of the machine id"),
      rule("boot_id", info, kAll, program, "text: hash of this boot's id"),
      rule("module_name", info, kAll, program, "text: name the module was found under, e.g. cuda-12.4"),
      rule("module_path", info, kAll, program, "text"),

      // What marks or refuses a run.
      rule("throttle_reasons", validity, kGpu, sensor, "text: none, or why clocks are held down now"),
      rule("other_processes", validity, kGpu, sensor, "other processes with memory on the board"),
      rule("other_load", validity, kCpu, sensor, "one-minute load average in thousandths"),

      // What the plan chose.
      rule("allocator_policy", thing, kAll, plan, "text: caching, expandable, native...", Scope::memory_only),
      rule("allocator_options", change, kAll, plan, "text: its parameters", Scope::memory_only),
      rule("vmm_granularity_bytes", change, kAll, board, "granularity of mapped memory as observed",
           Scope::memory_only),

      // What one case is.
      rule("case", thing, kAll, plan, "text: kernel or allocator operation", Scope::case_only),
      rule("shape", thing, kAll, plan, "text", Scope::case_only),
      rule("dtype", thing, kAll, plan, "text: f32, f16, bf16", Scope::case_only),
      rule("implementation", thing, kAll, plan, "text: portable, matrix or library", Scope::case_only),
      rule("input_law", thing, kAll, plan, "text: how the inputs were drawn", Scope::case_only),
      rule("cache_mode", thing, kAll, plan, "text: cold or hot", Scope::case_only),
      rule("timing_mode", thing, kAll, plan, "text: events, graph or wall", Scope::case_only),
      rule("kernel_source_version", thing, kAll, plan, "version of the kernel's body", Scope::case_only),
      rule("mma_kind", thing, kAll, plan, "text: scalar, or the matrix instruction used", Scope::case_only),
      rule("registers", change, kGpu, plan, "registers a thread", Scope::case_only),
      rule("spill_bytes", change, kGpu, plan, "local memory a thread", Scope::case_only),
  };
}();

// Nullptr when no such key is registered.
[[nodiscard]] constexpr const FieldRule* find_rule(std::string_view key) {
  for (const auto& rule : kFieldRules)
    if (rule.key == key) return &rule;
  return nullptr;
}

// ---- sensors: what device_sensors() may state; readings, not identity ----

struct SensorRule {
  std::string_view key;
  std::string_view meaning;
};

inline constexpr std::array kSensorRules{
    SensorRule{"throttle_reasons", "text: none, or why clocks are held down now"},
    SensorRule{"clock_khz", "clock of the multiprocessors now"},
    SensorRule{"memory_clock_khz", "memory clock now"},
    SensorRule{"temperature_celsius", "of the board"},
    SensorRule{"power_milliwatts", "drawn now"},
    SensorRule{"utilization_percent", "busy share over the driver's own window"},
    SensorRule{"other_processes", "other processes with memory on the board"},
    SensorRule{"used_bytes", "memory in use on the board, all processes"},
    SensorRule{"other_load", "host: one-minute load average in thousandths"},
};

[[nodiscard]] constexpr const SensorRule* find_sensor(std::string_view key) {
  for (const auto& sensor : kSensorRules)
    if (sensor.key == key) return &sensor;
  return nullptr;
}

// ---- words ----

[[nodiscard]] constexpr std::string_view to_text(Tier tier) {
  switch (tier) {
    case Tier::thing:
      return "thing";
    case Tier::change:
      return "change";
    case Tier::info:
      return "info";
    case Tier::validity:
      return "validity";
  }
  return "info";
}

[[nodiscard]] constexpr std::string_view to_text(FieldState state) {
  switch (state) {
    case FieldState::value:
      return "value";
    case FieldState::not_applicable:
      return "not_applicable";
    case FieldState::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace assay
