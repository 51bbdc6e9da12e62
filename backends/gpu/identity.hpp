// SPDX-License-Identifier: Apache-2.0
// What a module and a device say of themselves: the fields that come from the build and from the runtime. The vendor's
// own sources (NVML, sysfs, SMI) are the Board's.
#pragma once

#include <unistd.h>

#include "backends/gpu/family.hpp"
#include "backends/gpu/library.hpp"
#include "backends/gpu/probe.hpp"

namespace assay::gpu {

// 13000 -> "13.0" for CUDA's numbers; 50221153 -> "5.2.21153" for HIP's.
inline std::string version_text(int number) {
  std::array<char, 48> text{};
  if (number >= 10000000)
    std::snprintf(text.data(), text.size(), "%d.%d.%d", number / 10000000, number / 100000 % 100, number % 100000);
  else
    std::snprintf(text.data(), text.size(), "%d.%d", number / 1000, number % 1000 / 10);
  return text.data();
}

template <GpuRuntime Rt>
assay_status describe(assay_field_sink sink, void* context) {
  if (sink == nullptr) return missing_argument<Rt>();
  const FieldWriter out(sink, context);
  const BuildFacts& build = Rt::build_facts();
  out.text("backend", Rt::backend, "build");
  out.text("platform", Rt::platform, "build");
  out.text("toolkit_compiled", build.toolkit_compiled, "build");
  out.text("compiler", build.compiler, "build");
  if constexpr (Rt::is_amd) {
    out.not_applicable("host_compiler", "hipcc compiles host and device code with one compiler", "build");
    out.text("code_object_version", build.code_object_version, "build");
  } else {
    out.text("host_compiler", build.host_compiler, "build");
    out.not_applicable("code_object_version", "NVIDIA code has no code object version", "build");
  }
  out.text("compiler_flags", build.compiler_flags, "build");
  out.text("fp_flags", build.fp_flags, "build");
  out.text("embedded_targets", build.embedded_targets, "build");
  out.text("libraries", "none", "build");
  const std::string path = library_path(Rt::library_symbol());
  if (path.empty())
    out.unknown("runtime_path", "the dynamic linker knows no file for the runtime", "dladdr");
  else
    out.text("runtime_path", path, "dladdr");
  Rt::describe_lower_layer(out);
  return ASSAY_OK;
}

// A runtime that cannot tell its version is unknown, never 0.
template <GpuRuntime Rt>
void write_versions(DeviceState<Rt>& device, const FieldWriter& out) {
  int number = 0;
  if (device.check("read the runtime's version", Rt::runtime_version(&number)) == ASSAY_OK && number > 0)
    out.text("runtime_version", version_text(number), Rt::runtime_version_name);
  else
    out.unknown("runtime_version", "the runtime does not answer", Rt::runtime_version_name);
  if constexpr (!Rt::driver_version_is_api) {
    out.not_applicable("driver_api_version", "HIP answers its own version here, not the driver's", "build");
  } else {
    number = 0;
    if (device.check("read the driver's version", Rt::driver_version(&number)) == ASSAY_OK && number > 0)
      out.text("driver_api_version", version_text(number), Rt::driver_version_name);
    else
      out.unknown("driver_api_version", "the driver does not answer", Rt::driver_version_name);
  }
}

template <GpuRuntime Rt>
void write_architecture(const DeviceState<Rt>& device, const FieldWriter& out) {
  const Architecture architecture = split_architecture(device.arch);
  out.text("arch", architecture.base, Rt::properties_name);
  if constexpr (Rt::is_amd) {
    out.text("arch_features", architecture.features.empty() ? "none" : architecture.features, Rt::properties_name);
    out.text("xnack", std::string(feature_state(architecture.features, "xnack")), Rt::properties_name);
    out.text("sramecc", std::string(feature_state(architecture.features, "sramecc")), Rt::properties_name);
  } else {
    for (const char* key : {"arch_features", "xnack", "sramecc"})
      out.not_applicable(key, "NVIDIA architectures have no feature suffixes", "build");
  }
  const std::string_view family = family_of(architecture.base);
  if (family.empty())
    out.unknown("family", "the architecture is not in the table of families", "table");
  else
    out.text("family", std::string(family), "table");
  const bool overridden = Rt::is_amd && has_architecture_override(::environ);
  out.text("execution", std::string(execution_kind(device.properties.name, overridden)), Rt::properties_name);
}

// Which code the device runs: compiled for it, or translated from PTX at load time. Judged by the module's first
// kernel.
template <GpuRuntime Rt>
void write_code_used(DeviceState<Rt>& device, const FieldWriter& out) {
  if constexpr (Rt::is_amd) {
    out.text("code_used", "native", "build");
  } else {
    const auto table = Rt::kernels();
    typename Rt::FunctionAttributes attributes{};
    if (table.empty() ||
        device.check("read a kernel's resources", Rt::function_attributes(&attributes, table[0].entry)) != ASSAY_OK) {
      out.unknown("code_used", "the runtime does not say which code it loaded", Rt::function_attributes_name);
      return;
    }
    // Translated code carries the device's own number; native code that of the embedded target it came from. A target
    // of the same major version runs without translation, so only a number outside the list means PTX was used.
    const std::string target = "sm_" + std::to_string(attributes.binaryVersion);
    const bool native = ("," + Rt::build_facts().embedded_targets + ",").find("," + target + ",") != std::string::npos;
    out.text("code_used", native ? "native" : "jit", Rt::function_attributes_name);
  }
}

template <GpuRuntime Rt>
void write_granularity(DeviceState<Rt>& device, const FieldWriter& out) {
  std::size_t bytes = 0;
  if (enter_with(device, ASSAY_CAPABILITY_VMM) == ASSAY_OK && granularity(device, false, &bytes) == ASSAY_OK)
    out.integer("vmm_granularity_bytes", static_cast<std::int64_t>(bytes), Rt::granularity_name);
  else
    out.unknown("vmm_granularity_bytes", error_buffer<Rt>().data(), "probe");
}

template <GpuRuntime Rt>
assay_status device_identity(assay_device* handle, assay_field_sink sink, void* context) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || sink == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  const FieldWriter out(sink, context);
  const auto& properties = device->properties;
  write_architecture(*device, out);
  out.text("device_name", properties.name, Rt::properties_name);
  out.text("pci_bdf", device->pci_bdf, Rt::properties_name);
  out.integer("memory_visible_bytes", static_cast<std::int64_t>(properties.totalGlobalMem), Rt::properties_name);
  out.integer("multiprocessors", properties.multiProcessorCount, Rt::properties_name);
  out.integer("wave_size", properties.warpSize, Rt::properties_name);
  out.integer("shared_memory_bytes", static_cast<std::int64_t>(Rt::largest_shared(properties)), Rt::properties_name);
  out.integer("l2_cache_bytes", properties.l2CacheSize, Rt::properties_name);
  out.integer("memory_bus_bits", properties.memoryBusWidth, Rt::properties_name);
  out.boolean("integrated", properties.integrated != 0, Rt::properties_name);
  out.text("timer", "event", "build");
  write_code_used(*device, out);
  write_versions(*device, out);
  write_granularity(*device, out);
  const std::lock_guard lock(device->board_mutex);
  const std::string uuid = device->board->uuid();
  if (uuid.empty())
    out.unknown("uuid", "the runtime gives this board no unique id", Rt::uuid_name);
  else
    out.text("uuid", uuid, Rt::uuid_name);
  device->board->identity(out);
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status device_sensors(assay_device* handle, assay_field_sink sink, void* context) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || sink == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  const std::lock_guard lock(device->board_mutex);
  device->board->sensors(FieldWriter(sink, context));
  return ASSAY_OK;
}

}  // namespace assay::gpu
