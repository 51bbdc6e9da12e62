// SPDX-License-Identifier: Apache-2.0
// What the CPU module states about itself, about one open device, and about its sensors.
#pragma once

#include <cstdint>

#include "backends/abi/assay_backend.h"
#include "backends/host/exec/executor.hpp"

namespace assay::host {

// What one open device knows of itself and the identity may state.
struct DeviceFacts {
  std::int32_t ordinal = 0;         // of the module's two devices
  std::int64_t memory_bytes = 0;    // the budget
  std::int64_t machine_bytes = 0;   // MemTotal of the machine
  bool memory_bytes_given = false;  // the budget came from the option, not from the default
  const char* stream_model = "";    // "threads", or "fibres" in builds for ThreadSanitizer
  ExecutorOptions executor;         // wave, threads and block as opened
};

// Each hands its fields to `sink` one by one; strings are valid only during the call to it. Thread-safe. They may throw
// std::bad_alloc, which the table turns into a status.
void describe(assay_field_sink sink, void* context);
void emit_identity(const DeviceFacts& facts, assay_field_sink sink, void* context);
void emit_sensors(const DeviceFacts& facts, assay_field_sink sink, void* context);

}  // namespace assay::host
