// SPDX-License-Identifier: Apache-2.0
// Board: what is read about a device beside its runtime (NVML, sysfs, SMI libraries); BuildFacts: what the module is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/gpu/field.hpp"

namespace assay::gpu {

// How a board is found: by what the runtime says of the device, never by its ordinal alone.
struct BoardQuery {
  int ordinal = 0;
  std::string pci_bdf;   // "0000:41:00.0"
  std::string uuid;      // the runtime's own, with its scheme prefix; empty when it has none
  std::string arch;      // "sm_90", "gfx90a:sramecc+:xnack-"
  std::string platform;  // "nvidia", "amd"
};

// A reading that may be missing; then `text` says why. Otherwise it names the source.
struct Reading {
  std::optional<std::int64_t> value;
  std::string text;
};

// Readers may be slow (a library call, a file): never called between two measured points. Used under the device's lock.
class Board {
 public:
  Board() = default;
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  virtual ~Board() = default;
  // The runtime's unique id, put right where the board knows better (a MIG slice); empty when there is none.
  virtual std::string uuid() = 0;
  // Every field of the vendor's own sources; a field that cannot be read is emitted as unknown with the reason.
  virtual void identity(const FieldWriter& out) = 0;
  virtual void sensors(const FieldWriter& out) = 0;
  // Bytes of device memory in use on the whole board, every process included.
  virtual Reading used_bytes() = 0;
  // Bytes of device memory that this process holds, context included.
  virtual Reading process_bytes() = 0;
};

// Constants of the build, stated by the compiler that made the device code (backends/{cuda,hip}/build_facts.cpp).
struct BuildFacts {
  std::string toolkit_compiled;     // "13.0.0", "5.2.21153"
  std::string compiler;             // device compiler with version
  std::string host_compiler;        // compiler of the shared source
  std::string compiler_flags;       // of the device code, as given to the compiler
  std::string fp_flags;             // those that move numbers: "contract=on fast-math=off ftz=off unsafe-atomics=off"
  std::string embedded_targets;     // "sm_80,sm_90", "gfx90a,gfx1030"
  std::string code_object_version;  // AMD: "4", empty elsewhere
};

}  // namespace assay::gpu
