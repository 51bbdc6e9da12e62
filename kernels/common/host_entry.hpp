// SPDX-License-Identifier: Apache-2.0
// HostEntry: the compiled forms of one kernel in the CPU module, and what a fibre of checking mode can ask for.
#pragma once

#include <cstdint>

namespace assay::kernels {

// One thread of a block in checking mode. The executor owns it and fills it before the fibre starts.
struct FibreThread {
  std::uint32_t thread = 0;
  std::uint32_t threads = 1;
  std::uint32_t wave = 32;
  std::int64_t block = 0;
  std::int64_t blocks = 1;
  unsigned char* shared = nullptr;   // the block's dynamic shared memory
  std::uint64_t* scratch = nullptr;  // one slot a wave
  // Returns when every thread of the block has called it.
  void (*sync)(FibreThread* self) = nullptr;
  // Hands `value` to the wave and returns lane `source`'s value, or this thread's own where that lane does not exist.
  // Returns when every thread of the wave has called it.
  std::uint64_t (*exchange)(FibreThread* self, std::uint64_t value, std::uint32_t source) = nullptr;
};

// What KernelEntry::entry points at in the CPU module.
struct HostEntry {
  // Blocks [first, last) of `grid`, one thread each. `shared` is LaunchShape::shared_bytes long, 64-byte aligned, and
  // belongs to this call.
  void (*serial)(const void* params, std::int64_t first, std::int64_t last, std::int64_t grid, unsigned char* shared);
  // One thread of one block, on a stack of its own.
  void (*fibre)(const void* params, FibreThread* self);
};

}  // namespace assay::kernels
