// SPDX-License-Identifier: Apache-2.0
// pair-cost POLICY HOLES PAIRS: runs that many cached pairs of allocate and deallocate, inside the function `run_pairs`
// for an instruction counter to collect. POLICY is one of Assay's or `cub`. By hand, not part of ctest.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/bench_allocator/heaps.hpp"
#include "tests/bench_allocator/pairs.hpp"

#ifdef ASSAY_WITH_CUB
#include "tests/bench_allocator/cub_peer.hpp"
#endif

template <class AnyHeap>
__attribute__((noinline)) void run_pairs(AnyHeap& heap, const std::vector<std::size_t>& sizes, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) heap.give(heap.take(sizes[i % sizes.size()]));
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: pair-cost POLICY HOLES PAIRS\n");
    return 64;
  }
  const auto holes = static_cast<std::size_t>(std::atoll(argv[2]));
  const auto pairs = static_cast<std::size_t>(std::atoll(argv[3]));
  const auto measure = [&](auto& heap) {
    assay::bench::make_holes(heap, holes);
    run_pairs(heap, assay::bench::random_sizes(4096, 2), pairs);
  };
#ifdef ASSAY_WITH_CUB
  if (std::string(argv[1]) == "cub") {
    assay::bench::CubHeap heap;
    measure(heap);
    return 0;
  }
#endif
  assay::bench::AssayHeap heap(argv[1]);
  measure(heap);
  return 0;
}
