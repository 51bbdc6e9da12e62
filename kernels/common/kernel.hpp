// SPDX-License-Identifier: Apache-2.0
// What a kernel is to the module that carries it: its name and version, its launch shape, and its compiled entry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

// What a launch shape may depend on. The host in speed mode has max_threads 1: one thread a block.
struct Target {
  std::uint32_t wave = 1;             // lanes that run together: 32, 64, or 1 on the host in speed mode
  std::uint32_t max_threads = 1;      // per block, at most
  std::uint32_t multiprocessors = 1;  // SMs, CUs or host threads
};

// One-dimensional grids only. grid == 0 means there is nothing to do.
struct LaunchShape {
  std::uint64_t grid = 0;
  std::uint32_t block = 1;
  std::uint32_t shared_bytes = 0;  // dynamic shared memory
};

// One row of a module's kernel table. `entry` is a __global__ function taking the parameter struct by value on a GPU,
// and a kernels::HostEntry (kernels/common/host_entry.hpp) in a module for the CPU.
struct KernelEntry {
  const char* name;
  const char* dtype;
  const char* implementation;
  std::int32_t source_version;
  std::uint32_t params_bytes;
  LaunchShape (*shape)(const void* params, const Target& target);
  const void* entry;
};

// The rows of one module, in a fixed order.
struct KernelTable {
  const KernelEntry* entries = nullptr;
  std::size_t count = 0;
};

}  // namespace assay::kernels
