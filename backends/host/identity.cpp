// SPDX-License-Identifier: Apache-2.0
// The CPU module's own words: fields of the module, of a device, and of its sensors.
#include "backends/host/identity.hpp"

namespace assay::host {
namespace {

struct Sink {
  assay_field_sink sink;
  void* context;

  void text(const char* key, const char* value, const char* source) const {
    const assay_field field{key, ASSAY_FIELD_VALUE, ASSAY_TYPE_TEXT, 0, value, source};
    sink(context, &field);
  }
  void integer(const char* key, std::int64_t value, const char* source) const {
    const assay_field field{key, ASSAY_FIELD_VALUE, ASSAY_TYPE_INTEGER, value, nullptr, source};
    sink(context, &field);
  }
};

}  // namespace

void describe(assay_field_sink sink, void* context) {
  const Sink out{sink, context};
  out.text("backend", "host", "build");
  out.text("platform", "cpu", "build");
  out.text("compiler", __VERSION__, "build");
}

void emit_identity(const DeviceFacts& facts, assay_field_sink sink, void* context) {
  const Sink out{sink, context};
  out.text("backend", "host", "build");
  out.text("platform", "cpu", "build");
  out.integer("memory_total", facts.machine_bytes, "sysinfo");
  out.integer("memory_visible", facts.memory_bytes,
              facts.memory_bytes_given ? "option memory_bytes" : "half of the machine's memory");
  out.integer("wave_size", facts.executor.wave, "option wave");
}

void emit_sensors(const DeviceFacts&, assay_field_sink, void*) {}

}  // namespace assay::host
