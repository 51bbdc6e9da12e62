// SPDX-License-Identifier: Apache-2.0
// Best fit within a stream (facts: allocators section 2.4), and among the bins of one stream.
#include "backends/allocator/block.hpp"

namespace assay::allocator {

Block* FreeList::take_best_fit(const Options& options, assay_stream* stream, std::size_t rounded) {
  if (options.collects_garbage()) count_search();
  const auto found = blocks_.lower_bound(Key{stream, rounded, 0, 0}, Order{});
  if (found == blocks_.end() || found->stream != stream) return nullptr;
  if (options.splits_limited()) {
    const bool oversize = rounded >= options.max_split_bytes;
    if (!oversize && found->bytes >= options.max_split_bytes) return nullptr;
    if (oversize && found->bytes - rounded >= options.max_non_split_rounding_bytes) return nullptr;
  }
  Block& block = *found;
  blocks_.erase(found);
  return &block;
}

// A larger piece for a small block, which is cut from its high end: one that ends beside a small live block, so that
// small blocks gather instead of each pinning a hole of its own. Null where none of the smallest pieces does.
Block* FreeList::beside_small() {
  constexpr std::size_t kMostLookedAt = 16;
  std::size_t looked_at = 0;
  for (auto piece = blocks_.begin(); piece != blocks_.end() && ++looked_at <= kMostLookedAt; ++piece) {
    const Block* next = piece->next;
    if (next != nullptr && next->state != BlockState::inactive && next->bytes <= SizeBins<Block>::kLargestBytes)
      return &*piece;
  }
  return nullptr;
}

Block* FreeList::take_smallest(assay_stream* stream, std::size_t rounded) {
  constexpr std::size_t kBinned = SizeBins<Block>::kLargestBytes;
  Block* found = nullptr;
  if (rounded <= kBinned) {
    found = bins_->find(rounded);
    if (found != nullptr && found->expandable_bytes() != found->bytes) {
      Block* other = found->bin_next;
      if (other == nullptr && found->bytes < kBinned) other = bins_->find(found->bytes + kMinBlockBytes);
      if (other != nullptr && other->expandable_bytes() < found->expandable_bytes()) found = other;
    }
    if (found != nullptr && found->expandable_bytes() == found->bytes) {
      bins_->erase(*found);
      return found;
    }
    if (found == nullptr) {
      if (Block* gathering = beside_small()) {
        erase(*gathering);
        return gathering;
      }
    }
  }
  auto larger = found != nullptr ? blocks_.begin() : blocks_.lower_bound(Key{stream, rounded, 0, 0}, Order{});
  for (; larger != blocks_.end(); ++larger) {
    if (found != nullptr && larger->expandable_bytes() >= found->expandable_bytes()) break;
    found = &*larger;
  }
  if (found != nullptr) erase(*found);
  return found;
}

}  // namespace assay::allocator
