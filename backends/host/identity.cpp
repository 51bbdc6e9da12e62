// SPDX-License-Identifier: Apache-2.0
// The CPU module's own words: fields of the module, of a device, and of its sensors.
#include "backends/host/identity.hpp"

#include <dlfcn.h>

#include <boost/version.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "backends/host/exec/isa.hpp"
#include "backends/host/memory.hpp"
#include "backends/host/processor.hpp"

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace assay::host {
namespace {

#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#else
constexpr const char* kArchitecture = "other";
#endif

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

struct Sink {
  assay_field_sink sink;
  void* context;

  void text(const char* key, const std::string& value, const char* source) const {
    const assay_field field{key, ASSAY_FIELD_VALUE, ASSAY_TYPE_TEXT, 0, value.c_str(), source};
    sink(context, &field);
  }
  void integer(const char* key, std::int64_t value, const char* source) const {
    const assay_field field{key, ASSAY_FIELD_VALUE, ASSAY_TYPE_INTEGER, value, nullptr, source};
    sink(context, &field);
  }
  void unknown(const char* key, const char* reason, const char* source) const {
    const assay_field field{key, ASSAY_FIELD_UNKNOWN, ASSAY_TYPE_TEXT, 0, reason, source};
    sink(context, &field);
  }
  void text_or_unknown(const char* key, const std::string& value, const char* source, const char* reason) const {
    if (value.empty())
      unknown(key, reason, source);
    else
      text(key, value, source);
  }
};

// The flags of the kernels' own build and those that the whole build was given.
std::string fp_flags() {
  const std::string given = ASSAY_HOST_FP_FLAGS;
  return kernel_build().fp_flags + (given.empty() ? std::string{} : " " + given);
}

std::string embedded_targets() {
  std::string list;
  for (const auto& build : kernel_builds()) list += (list.empty() ? "" : ",") + std::string(build.isa);
  return list;
}

std::string libraries() {
  std::string list = "boost.context " BOOST_LIB_VERSION;
#if defined(ASSAY_HOST_OPENMP)
  list += ", OpenMP " ASSAY_HOST_OPENMP;
#endif
  return list;
}

// The file that offers the C library's functions to this module.
std::string libc_path() {
  Dl_info info{};
  void* address = ::dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

void write_libc(const Sink& out) {
#if defined(__GLIBC__)
  out.text("runtime_version", std::string("glibc ") + ::gnu_get_libc_version(), "gnu_get_libc_version");
#else
  out.unknown("runtime_version", "this C library does not state its version", "build");
#endif
}

// How kernels run: the two modes compute in different orders, so they are different things.
std::string execution(const DeviceFacts& facts) {
  std::string text = "native one-thread blocks";
  if (facts.executor.wave != 1) {
    text = "fibres wave " + std::to_string(facts.executor.wave);
    if (facts.executor.block != 0) text += " block " + std::to_string(facts.executor.block);
  }
  // Builds for ThreadSanitizer queue streams in another way.
  if (std::string(facts.stream_model) != "threads") text += ", streams as " + std::string(facts.stream_model);
  return text;
}

// Checking mode runs its blocks one after the other.
std::int64_t worker_threads(const DeviceFacts& facts) {
  return facts.executor.wave == 1 ? std::int64_t{Executor(facts.executor).target().multiprocessors} : 1;
}

void write_load(const Sink& out) {
  double load = 0;
  if (::getloadavg(&load, 1) == 1)
    out.integer("other_load", std::llround(load * 1000.0), "getloadavg");
  else
    out.unknown("other_load", "the system gives no load average", "getloadavg");
}

}  // namespace

void describe(assay_field_sink sink, void* context) {
  const Sink out{sink, context};
  out.text("backend", "host", "build");
  out.text("platform", "cpu", "build");
  out.text("compiler", kCompiler, "build");
  out.text("compiler_flags", ASSAY_HOST_COMPILER_FLAGS, "build");
  out.text("fp_flags", fp_flags(), "build");
  out.text("embedded_targets", embedded_targets(), "build");
  out.text("libraries", libraries(), "build");
  out.text_or_unknown("runtime_path", libc_path(), "dladdr", "the dynamic linker knows no file for the C library");
}

void emit_identity(const DeviceFacts& facts, assay_field_sink sink, void* context) {
  const Sink out{sink, context};
  out.text("execution", execution(facts), "options");
  out.text("arch", kArchitecture, "build");
  out.text("isa_level", kernel_build().isa, "cpuid");
  out.text_or_unknown("cpu_signature", processor_signature(), "cpuid", "this architecture has no cpuid");
  out.text_or_unknown("device_name", processor_name(), "cpuid", "the processor states no name");
  out.integer("memory_total_bytes", facts.machine_bytes, "sysconf");
  out.integer("memory_visible_bytes", facts.memory_bytes,
              facts.memory_bytes_given ? "option memory_bytes" : "half of the machine's memory");
  out.integer("multiprocessors", worker_threads(facts), facts.executor.threads != 0 ? "option threads" : "affinity");
  out.integer("wave_size", facts.executor.wave, "option wave");
  out.text("timer", "steady_clock", "build");
  out.text_or_unknown("firmware", microcode(), "/proc/cpuinfo", "/proc/cpuinfo shows no microcode");
  write_libc(out);
  out.integer("vmm_granularity_bytes", static_cast<std::int64_t>(Memory::kGranularity), "build");
}

void emit_sensors(const DeviceFacts& facts, assay_field_sink sink, void* context) {
  (void)facts;
  write_load({sink, context});
}

}  // namespace assay::host
