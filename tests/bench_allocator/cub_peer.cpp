// SPDX-License-Identifier: Apache-2.0
// CUB as a peer: its header over the nine runtime functions it calls, which answer at once (facts: allocators 6.3).
#include "tests/bench_allocator/cub_peer.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <cub/util_allocator.cuh>
#include <stdexcept>

namespace {
std::atomic<std::uintptr_t> next_address{std::uintptr_t{1} << 44};  // NOLINT: the stub's only state
}

extern "C" {
cudaError_t cudaMalloc(void** out, size_t bytes) {
  *out = reinterpret_cast<void*>(next_address.fetch_add((bytes + 511) / 512 * 512));
  return cudaSuccess;
}
cudaError_t cudaFree(void*) {
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "";
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
}

namespace assay::bench {

// Bins of powers of two from 512 bytes to 2 GiB, and no limit on what is cached: the default would pass every request
// above 2 MiB through to the runtime.
struct CubHeap::State {
  cub::CachingDeviceAllocator allocator{2, 9, 31, SIZE_MAX, true};
};

CubHeap::CubHeap() : state_(std::make_unique<State>()) {}
CubHeap::~CubHeap() = default;

void* CubHeap::take(std::size_t bytes, std::size_t stream) {
  void* pointer = nullptr;
  if (state_->allocator.DeviceAllocate(0, &pointer, bytes, reinterpret_cast<cudaStream_t>(stream + 1)) != cudaSuccess)
    throw std::runtime_error("CUB refused an allocation");
  return pointer;
}
void CubHeap::give(void* pointer) {
  if (state_->allocator.DeviceFree(0, pointer) != cudaSuccess) throw std::runtime_error("CUB refused a free");
}

}  // namespace assay::bench
