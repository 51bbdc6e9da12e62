// SPDX-License-Identifier: Apache-2.0
// Block, Segment, FreeList, Pool: the pieces every splitting policy keeps its books with.
#pragma once

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/options.hpp"
#include "backends/allocator/size_bins.hpp"

namespace assay::allocator {

struct Segment;

// Intrusive links, so that a block moves between free and live without allocating.
using Unchecked = boost::intrusive::link_mode<boost::intrusive::normal_link>;
using FreeHook = boost::intrusive::set_base_hook<Unchecked, boost::intrusive::optimize_size<true>>;
using LiveHook = boost::intrusive::unordered_set_base_hook<Unchecked>;

// A contiguous piece of one segment: live, pending (freed by the caller, waiting for a stream) or inactive (free).
// In an expandable segment a piece without memory behind its addresses is inactive too, and not `mapped`.
// Links and keys come first and fill one cache line, so that a search touches one line of each block it passes.
struct alignas(64) Block : FreeHook, LiveHook {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::uint64_t rank = 0;           // before the address when free blocks of one size are compared
  assay_stream* stream = nullptr;   // the segment's
  std::size_t requested_bytes = 0;  // of the last use
  Segment* segment = nullptr;
  Block* previous = nullptr;  // neighbours in the segment, by address
  Block* next = nullptr;
  Block* bin_previous = nullptr;  // in a list of free blocks of one size
  Block* bin_next = nullptr;
  std::uint64_t searches_seen = 0;  // the free list's count when this block was put into it
  std::uint32_t pending_events = 0;
  BlockState state = BlockState::inactive;
  Category category = Category::workspace;
  bool mapped = true;
  std::vector<assay_stream*> foreign_streams;  // named with record_stream since the allocation

  // record_stream: `user` uses the block, which means nothing where it is the block's own.
  void used_by(assay_stream* user);

  [[nodiscard]] bool split() const { return previous != nullptr || next != nullptr; }
  // What a free block could grow to without moving: itself and the unmapped addresses behind it.
  [[nodiscard]] std::size_t expandable_bytes() const {
    return bytes + (next != nullptr && !next->mapped ? next->bytes : 0);
  }
};

// The free blocks of one pool, ordered by (stream, bytes, rank, address).
class FreeList {
 public:
  struct Key {
    assay_stream* stream;
    std::size_t bytes;
    std::uint64_t rank;
    std::uintptr_t address;
  };
  struct Order {
    template <class Left, class Right>  // each a Key or a Block
    bool operator()(const Left& left, const Right& right) const {
      if (left.stream != right.stream) return std::less<>{}(left.stream, right.stream);
      if (left.bytes != right.bytes) return left.bytes < right.bytes;
      if (left.rank != right.rank) return left.rank < right.rank;
      return left.address < right.address;
    }
  };
  using Set = boost::intrusive::set<Block, boost::intrusive::base_hook<FreeHook>, boost::intrusive::compare<Order>>;

  ~FreeList() { blocks_.clear(); }

  // Of a list with bins only the blocks above SizeBins::kLargestBytes are in blocks(). While it is empty only.
  void use_bins() { bins_ = std::make_unique<SizeBins<Block>>(); }

  void insert(Block& block) {
    if (binned(block)) return bins_->insert(block);
    block.searches_seen = searches_;
    blocks_.insert(block);
  }
  void erase(Block& block) {
    if (binned(block)) return bins_->erase(block);
    blocks_.erase(blocks_.iterator_to(block));
  }

  // With bins, in a list of one stream: the smallest block of at least `rounded` bytes, taken out of the list, or null;
  // where a block above the bins must serve a request within them, one beside other small live blocks is preferred.
  // A block that can grow into unmapped addresses behind it counts with the size it can grow to.
  [[nodiscard]] Block* take_smallest(assay_stream* stream, std::size_t rounded);

  // The smallest block of `stream` with at least `rounded` bytes, taken out of the list; null when there is none, or
  // when max_split_bytes forbids it: a smaller request may not take an oversize block, and an oversize one no block
  // larger by max_non_split_rounding_bytes or more.
  [[nodiscard]] Block* take_best_fit(const Options& options, assay_stream* stream, std::size_t rounded);

  // Searches since the block was put in; counted only where garbage is collected.
  [[nodiscard]] std::uint64_t age(const Block& block) const { return searches_ - block.searches_seen; }
  void count_search() { ++searches_; }

  [[nodiscard]] Set& blocks() { return blocks_; }
  [[nodiscard]] const Set& blocks() const { return blocks_; }

 private:
  [[nodiscard]] Block* beside_small();
  [[nodiscard]] bool binned(const Block& block) const {
    return bins_ != nullptr && block.bytes <= SizeBins<Block>::kLargestBytes;
  }

  Set blocks_;
  std::unique_ptr<SizeBins<Block>> bins_;
  std::uint64_t searches_ = 0;
};

// One size class of one owner: the default pools have id (0, 0), private ones the id they were begun with.
struct Pool {
  MempoolId id;
  bool small = false;
  std::size_t segments = 0;  // device allocations that belong to it
  FreeList free;
};

// One device allocation, or one reserved address range of which parts are mapped (expandable); covered by its blocks
// without gap or overlap.
struct Segment : boost::intrusive::list_base_hook<Unchecked> {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  assay_stream* stream = nullptr;
  Pool* pool = nullptr;
  Block* first = nullptr;
  bool expandable = false;
  std::map<std::uintptr_t, Block*> unmapped;  // of an expandable segment; not in the pool's free list
};

inline void Block::used_by(assay_stream* user) {
  if (user == stream) return;
  if (std::find(foreign_streams.begin(), foreign_streams.end(), user) == foreign_streams.end())
    foreign_streams.push_back(user);
}

}  // namespace assay::allocator
