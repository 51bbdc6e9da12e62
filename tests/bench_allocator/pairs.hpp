// SPDX-License-Identifier: Apache-2.0
// Holes, pairs and mixes of sizes: what every allocator is measured on, Assay's policies and peers alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace assay::bench {

// small: 512 << (0..11), as in the peers' measurements; large: 1 to 64 MiB in steps of 64 KiB; mixed: a transformer's,
// a third small, the others a few sizes of its layers.
enum class Mix { small, large, mixed };

inline std::vector<std::size_t> random_sizes(std::size_t count, std::uint32_t seed, Mix mix = Mix::small) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr std::size_t kLayer[] = {2 * kMiB + 512, 6 * kMiB, 9 * kMiB + kMiB / 2, 16 * kMiB, 48 * kMiB};
  std::mt19937 random(seed);
  std::vector<std::size_t> sizes(count);
  for (std::size_t& size : sizes) {
    const bool small = mix == Mix::small || (mix == Mix::mixed && random() % 3 == 0);
    if (small) {
      size = std::size_t{512} << (random() % 12);
    } else {
      size = mix == Mix::large ? kMiB + random() % 1008 * (kMiB / 16) : kLayer[random() % 5];
    }
  }
  return sizes;
}

// `holes` free blocks of mixed sizes on a stream, kept apart by live blocks so that they cannot join.
template <class AnyHeap>
void make_holes(AnyHeap& heap, std::size_t holes, std::size_t stream = 0, Mix mix = Mix::small) {
  std::vector<void*> to_free;
  for (const std::size_t size : random_sizes(holes, 1, mix)) {
    to_free.push_back(heap.take(size, stream));
    heap.take(512, stream);
  }
  for (void* pointer : to_free) heap.give(pointer);
  for (const std::size_t size : random_sizes(4096, 2, mix)) heap.give(heap.take(size, stream));  // no miss later
}

}  // namespace assay::bench
