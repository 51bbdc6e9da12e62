// SPDX-License-Identifier: Apache-2.0
// Objects of the simulated GPU runtime.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace assay::test {

// Numbers as CUDA and HIP have them.
enum SimStatus : int {};

using SimItem = std::function<void()>;

struct SimStream {
  int device = 0;
  std::deque<SimItem> queue;
  bool capturing = false;
  std::vector<SimItem> captured;
};

// One recording of an event; it outlives the event while somebody waits for it.
struct SimRecording {
  SimStream* stream = nullptr;  // valid until done
  bool done = false;
  std::chrono::steady_clock::time_point time;
};

struct SimEvent {
  int device = 0;
  bool timing = false;
  std::shared_ptr<SimRecording> last;
};

struct SimBlock {
  std::size_t bytes = 0;
  int device = 0;
};

struct SimPool {
  int device = 0;
  std::multimap<std::size_t, void*> free_blocks;
  std::map<void*, std::size_t> busy;
  std::uint64_t threshold = 0;
  std::array<int, 3> reuse{1, 1, 1};
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};

struct SimPhysical {
  int device = 0;
  std::size_t bytes = 0;
  int descriptor = -1;  // one a handle, as on some ROCm versions
};

struct SimMapping {
  std::size_t bytes = 0;
  SimPhysical* physical = nullptr;
  bool accessible = false;
};

struct SimGraph {
  std::vector<SimItem> items;
};

struct SimGraphExec {
  std::vector<SimItem> items;
};

struct SimProperties {
  char name[256] = {};
  std::size_t totalGlobalMem = 0;
  std::size_t sharedMemPerBlock = 0;
  int warpSize = 0;
  int maxThreadsPerBlock = 0;
  int multiProcessorCount = 0;
  int major = 0;
  int minor = 0;
  int l2CacheSize = 0;
  int memoryBusWidth = 0;
  int integrated = 0;
  int pciDomainID = 0;
  int pciBusID = 0;
  int pciDeviceID = 0;
};

struct SimFunction {
  int numRegs = 0;
  std::size_t sharedSizeBytes = 0;
  std::size_t localSizeBytes = 0;
  int maxThreadsPerBlock = 0;
  int binaryVersion = 0;
  int ptxVersion = 0;
};

}  // namespace assay::test
