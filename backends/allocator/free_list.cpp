// SPDX-License-Identifier: Apache-2.0
// Best fit within a stream (facts: allocators section 2.4).
#include "backends/allocator/block.hpp"

namespace assay::allocator {

Block* FreeList::take_best_fit(const Options& options, assay_stream* stream, std::size_t rounded) {
  if (options.collects_garbage()) count_search();
  const auto found = blocks_.lower_bound(Key{stream, rounded, 0, 0}, Order{});
  if (found == blocks_.end() || found->segment->stream != stream) return nullptr;
  if (options.splits_limited()) {
    const bool oversize = rounded >= options.max_split_bytes;
    if (!oversize && found->bytes >= options.max_split_bytes) return nullptr;
    if (oversize && found->bytes - rounded >= options.max_non_split_rounding_bytes) return nullptr;
  }
  Block& block = *found;
  blocks_.erase(found);
  return &block;
}

}  // namespace assay::allocator
