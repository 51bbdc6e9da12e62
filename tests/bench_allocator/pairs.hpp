// SPDX-License-Identifier: Apache-2.0
// Holes and pairs: what every allocator is measured on, Assay's policies and peers alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace assay::bench {

// Sizes 512 << (0..11), as in the peers' measurements.
inline std::vector<std::size_t> random_sizes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> sizes(count);
  for (std::size_t& size : sizes) size = std::size_t{512} << (random() % 12);
  return sizes;
}

// `holes` free blocks of mixed sizes, kept apart by live blocks so that they cannot join.
template <class AnyHeap>
void make_holes(AnyHeap& heap, std::size_t holes) {
  std::vector<void*> to_free;
  for (const std::size_t size : random_sizes(holes, 1)) {
    to_free.push_back(heap.take(size));
    heap.take(512);
  }
  for (void* pointer : to_free) heap.give(pointer);
  for (const std::size_t size : random_sizes(4096, 2)) heap.give(heap.take(size));  // no miss later
}

}  // namespace assay::bench
