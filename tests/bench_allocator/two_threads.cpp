// SPDX-License-Identifier: Apache-2.0
// two-threads POLICY HOLES: two threads on two streams of one allocator against the same two threads on two allocators,
// interleaved; prints the ratio of their throughputs, each round and the median. By hand, not part of ctest.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/allocator/make_allocator.hpp"
#include "tests/bench_allocator/pairs.hpp"
#include "tests/support/fake_device.hpp"

namespace {

using assay::allocator::Allocator;
using assay::testing::FakeDevice;

struct StreamHeap {
  Allocator* allocator;
  assay_stream* stream;
  void* take(std::size_t bytes) const {
    auto pointer = allocator->allocate(bytes, stream, assay::allocator::Category::activation);
    if (!pointer) throw std::runtime_error(pointer.error().text);
    return *pointer;
  }
  void give(void* pointer) const {
    if (!allocator->deallocate(pointer)) throw std::runtime_error("a free was refused");
  }
};

std::unique_ptr<Allocator> make(const std::string& policy, FakeDevice& device) {
  auto made = assay::allocator::make_allocator(policy, "", FakeDevice::table(), device.handle());
  if (!made) throw std::runtime_error(made.error().text);
  return std::move(*made);
}

// Pairs per second of two threads together.
double throughput(const StreamHeap& first, const StreamHeap& second) {
  constexpr std::size_t kPairs = 400'000;
  const auto sizes = assay::bench::random_sizes(4096, 2);
  std::atomic<int> ready{0};
  const auto work = [&](const StreamHeap& heap) {
    ++ready;
    while (ready.load() < 2) std::this_thread::yield();
    for (std::size_t i = 0; i < kPairs; ++i) heap.give(heap.take(sizes[i % sizes.size()]));
  };
  const auto start = std::chrono::steady_clock::now();
  std::thread other([&] { work(second); });
  work(first);
  other.join();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return 2 * kPairs / spent.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: two-threads POLICY HOLES\n");
    return 64;
  }
  const auto holes = static_cast<std::size_t>(std::atoll(argv[2]));
  FakeDevice device(std::size_t{1} << 46);
  auto shared = make(argv[1], device);
  auto left = make(argv[1], device);
  auto right = make(argv[1], device);
  StreamHeap heaps[4] = {{shared.get(), device.new_stream()},
                         {shared.get(), device.new_stream()},
                         {left.get(), device.new_stream()},
                         {right.get(), device.new_stream()}};
  for (StreamHeap& heap : heaps) assay::bench::make_holes(heap, holes);
  std::vector<double> ratios;
  for (int round = 0; round < 11; ++round) {
    const bool shared_first = round % 2 == 0;
    double one = shared_first ? throughput(heaps[0], heaps[1]) : 0;
    const double two = throughput(heaps[2], heaps[3]);
    if (!shared_first) one = throughput(heaps[0], heaps[1]);
    ratios.push_back(one / two);
    std::printf("shared %.2f, apart %.2f million pairs per second, ratio %.3f\n", one / 1e6, two / 1e6, one / two);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("median ratio %.3f\n", ratios[ratios.size() / 2]);
  return 0;
}
