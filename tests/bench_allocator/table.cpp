// SPDX-License-Identifier: Apache-2.0
// allocator-table [ROUNDS]: what a cached allocate and deallocate cost on the host under each policy and under CUB,
// against holes, sizes, streams and threads. Every cell is the median of ROUNDS (9) that take turns. The device
// answers at once: no driver is measured. By hand, not part of ctest.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench_allocator/heaps.hpp"
#include "tests/bench_allocator/pairs.hpp"

#ifdef ASSAY_WITH_CUB
#include "tests/bench_allocator/cub_peer.hpp"
#endif

namespace assay::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Any heap behind two functions, which cost each the same.
struct Heap {
  std::function<void*(std::size_t bytes, std::size_t stream)> take;
  std::function<void(void*)> give;
};

template <class AnyHeap>
Heap wrap(std::shared_ptr<AnyHeap> heap) {
  return {[heap](std::size_t bytes, std::size_t stream) { return heap->take(bytes, stream); },
          [heap](void* pointer) { heap->give(pointer); }};
}

struct Contestant {
  std::string name;
  std::function<Heap(std::size_t streams)> make;
};

std::vector<Contestant> contestants() {
  std::vector<Contestant> all;
  for (const char* policy : {"caching", "expandable", "remapping"})
    all.push_back(
        {policy, [policy](std::size_t streams) { return wrap(std::make_shared<AssayHeap>(policy, streams)); }});
#ifdef ASSAY_WITH_CUB
  all.push_back({"CUB", [](std::size_t) { return wrap(std::make_shared<CubHeap>()); }});
#endif
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Nanoseconds of a pair, the streams taken in turn.
double pair_ns(const Heap& heap, const std::vector<std::size_t>& sizes, std::size_t streams, std::size_t pairs) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < pairs; ++i) heap.give(heap.take(sizes[i % sizes.size()], i % streams));
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(pairs);
}

void print_header(const char* title, const std::vector<Contestant>& all) {
  std::printf("\n%-26s", title);
  for (const Contestant& each : all) std::printf("%12s", each.name.c_str());
  std::printf("%16s\n", "remapping/CUB");
}

void print_row(const std::string& label, const std::vector<double>& values, const char* format) {
  std::printf("%-26s", label.c_str());
  for (const double value : values) std::printf(format, value);
  if (values.size() > 3) std::printf("%16.2f", values[2] / values[3]);
  std::printf("\n");
  std::fflush(stdout);
}

struct Load {
  std::string label;
  std::size_t holes;
  std::size_t streams = 1;
  Mix mix = Mix::small;
};

std::vector<double> pairs_row(const std::vector<Contestant>& all, const Load& load, int rounds) {
  std::vector<Heap> heaps;
  for (const Contestant& each : all) {
    heaps.push_back(each.make(load.streams));
    struct View {  // one stream's make_holes over the wrapped heap
      Heap& heap;
      void* take(std::size_t bytes, std::size_t stream) { return heap.take(bytes, stream); }
      void give(void* pointer) { heap.give(pointer); }
    } view{heaps.back()};
    for (std::size_t stream = 0; stream < load.streams; ++stream) make_holes(view, load.holes, stream, load.mix);
  }
  const auto sizes = random_sizes(4096, 2, load.mix);
  std::vector<std::vector<double>> seen(heaps.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < heaps.size(); ++i) seen[i].push_back(pair_ns(heaps[i], sizes, load.streams, 200'000));
  std::vector<double> medians;
  for (auto& values : seen) medians.push_back(median(values));
  print_row(load.label, medians, "%12.1f");
  return medians;
}

// The distribution of single calls, the clock's own reading included.
void latencies(const std::vector<Contestant>& all) {
  constexpr std::size_t kCalls = 200'000;
  const auto sizes = random_sizes(4096, 2);
  std::vector<double> p50, p99, most;
  for (const Contestant& each : all) {
    Heap heap = each.make(1);
    for (const std::size_t size : sizes) heap.give(heap.take(size, 0));
    std::vector<double> ns(kCalls);
    for (std::size_t i = 0; i < kCalls; ++i) {
      const auto start = Clock::now();
      void* pointer = heap.take(sizes[i % sizes.size()], 0);
      ns[i] = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      heap.give(pointer);
    }
    std::sort(ns.begin(), ns.end());
    p50.push_back(ns[kCalls / 2]);
    p99.push_back(ns[kCalls * 99 / 100]);
    most.push_back(ns.back());
  }
  print_row("p50", p50, "%12.0f");
  print_row("p99", p99, "%12.0f");
  print_row("max", most, "%12.0f");
}

// Million pairs a second of two threads together, each on a stream of its own.
double two_threads(const Heap& first, std::size_t first_stream, const Heap& second, std::size_t second_stream) {
  constexpr std::size_t kPairs = 300'000;
  const auto sizes = random_sizes(4096, 2);
  std::atomic<int> ready{0};
  const auto work = [&](const Heap& heap, std::size_t stream) {
    ++ready;
    while (ready.load() < 2) std::this_thread::yield();
    for (std::size_t i = 0; i < kPairs; ++i) heap.give(heap.take(sizes[i % sizes.size()], stream));
  };
  const auto start = Clock::now();
  std::thread other([&] { work(second, second_stream); });
  work(first, first_stream);
  other.join();
  return 2e-6 * kPairs / std::chrono::duration<double>(Clock::now() - start).count();
}

void threads(const std::vector<Contestant>& all, int rounds) {
  std::vector<double> one, shared, apart, ratio;
  const auto sizes = random_sizes(4096, 2);
  for (const Contestant& each : all) {
    const Heap both = each.make(2);
    const Heap left = each.make(2);
    const Heap right = each.make(2);
    for (const Heap* heap : {&both, &left, &right})
      for (std::size_t stream = 0; stream < 2; ++stream)
        for (const std::size_t size : sizes) heap->give(heap->take(size, stream));
    std::vector<double> alone, together, separate, share;
    for (int round = 0; round < rounds; ++round) {
      alone.push_back(1e3 / pair_ns(left, sizes, 1, 300'000));
      const bool shared_first = round % 2 == 0;
      const double before = shared_first ? two_threads(both, 0, both, 1) : 0;
      separate.push_back(two_threads(left, 0, right, 1));
      together.push_back(shared_first ? before : two_threads(both, 0, both, 1));
      share.push_back(together.back() / separate.back());
    }
    one.push_back(median(alone));
    shared.push_back(median(together));
    apart.push_back(median(separate));
    ratio.push_back(median(share));
  }
  print_row("1 thread", one, "%12.2f");
  print_row("2, one allocator", shared, "%12.2f");
  print_row("2, an allocator each", apart, "%12.2f");
  print_row("shared / apart", ratio, "%12.2f");
}

int run(int rounds) {
  const auto all = contestants();
  if (all.size() < 4) std::printf("CUB is not measured: its header was not there when this was built.\n");
  print_header("holes, pair in ns", all);
  std::vector<std::vector<double>> by_holes;
  for (const std::size_t holes : {16u, 256u, 4'096u, 65'536u, 1'048'576u})
    by_holes.push_back(pairs_row(all, {std::to_string(holes), holes}, rounds));
  std::vector<double> growth;
  for (std::size_t i = 0; i < all.size(); ++i) growth.push_back(by_holes.back()[i] / by_holes.front()[i]);
  print_row("1,048,576 / 16 holes", growth, "%12.2f");
  print_header("sizes, pair in ns", all);
  pairs_row(all, {"512 B to 1 MiB", 1024, 1, Mix::small}, rounds);
  pairs_row(all, {"1 to 64 MiB", 1024, 1, Mix::large}, rounds);
  pairs_row(all, {"a transformer's", 1024, 1, Mix::mixed}, rounds);
  print_header("streams, pair in ns", all);
  for (const std::size_t streams : {1u, 4u, 16u, 64u})
    pairs_row(all, {std::to_string(streams), 256, streams, Mix::small}, rounds);
  print_header("allocate, ns a call", all);
  latencies(all);
  print_header("threads, million pairs/s", all);
  threads(all, rounds);
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  if (argc > 2 || rounds < 1) {
    std::fprintf(stderr, "usage: allocator-table [ROUNDS]\n");
    return 64;
  }
  return assay::bench::run(rounds);
}
