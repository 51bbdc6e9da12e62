// SPDX-License-Identifier: Apache-2.0
// CubHeap: CUB's CachingDeviceAllocator, its own code, over a runtime that invents addresses.
#pragma once

#include <cstddef>
#include <memory>

namespace assay::bench {

class CubHeap {
 public:
  CubHeap();
  ~CubHeap();
  // Streams are told apart by number.
  void* take(std::size_t bytes, std::size_t stream = 0);
  void give(void* pointer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::bench
