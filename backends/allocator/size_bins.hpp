// SPDX-License-Identifier: Apache-2.0
// SizeBins: free blocks of up to 1 MiB, one list per multiple of 512 bytes, with bitmaps over the lists.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "backends/allocator/options.hpp"

namespace assay::allocator {

// Exact best fit in a constant number of steps, however many blocks are held. Item needs `bytes`, a multiple of
// kMinBlockBytes, and the links `bin_previous` and `bin_next`. Of equal blocks the last one inserted is found first.
template <class Item>
class SizeBins {
 public:
  static constexpr std::size_t kLargestBytes = kSmallBytes;

  void insert(Item& item) {
    const std::size_t bin = bin_of(item.bytes);
    item.bin_previous = nullptr;
    item.bin_next = heads_[bin];
    if (item.bin_next != nullptr) item.bin_next->bin_previous = &item;
    heads_[bin] = &item;
    words_[bin / 64] |= bit(bin);
    summary_ |= bit(bin / 64);
  }

  void erase(Item& item) {
    if (item.bin_next != nullptr) item.bin_next->bin_previous = item.bin_previous;
    if (item.bin_previous != nullptr) {
      item.bin_previous->bin_next = item.bin_next;
      return;
    }
    const std::size_t bin = bin_of(item.bytes);
    heads_[bin] = item.bin_next;
    if (item.bin_next != nullptr) return;
    words_[bin / 64] &= ~bit(bin);
    if (words_[bin / 64] == 0) summary_ &= ~bit(bin / 64);
  }

  // A block of the smallest size held that has at least `bytes`, or null. `bytes` is at most kLargestBytes.
  [[nodiscard]] Item* find(std::size_t bytes) const {
    const std::size_t bin = bin_of(bytes);
    const std::uint64_t here = words_[bin / 64] >> (bin % 64);
    if (here != 0) return heads_[bin + static_cast<std::size_t>(std::countr_zero(here))];
    const std::size_t next_word = bin / 64 + 1;
    if (next_word >= kWords) return nullptr;
    const std::uint64_t above = summary_ >> next_word;
    if (above == 0) return nullptr;
    const std::size_t word = next_word + static_cast<std::size_t>(std::countr_zero(above));
    return heads_[word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]))];
  }

 private:
  static constexpr std::size_t kBins = kLargestBytes / kMinBlockBytes;
  static constexpr std::size_t kWords = kBins / 64;
  static_assert(kWords < 64, "the summary is one word");
  static std::size_t bin_of(std::size_t bytes) { return bytes / kMinBlockBytes - 1; }
  static std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % 64); }

  std::array<Item*, kBins> heads_{};
  std::array<std::uint64_t, kWords> words_{};
  std::uint64_t summary_ = 0;
};

}  // namespace assay::allocator
