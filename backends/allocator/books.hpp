// SPDX-License-Identifier: Apache-2.0
// Books: segments, blocks and statistics of one allocator, moved together so that they cannot part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "backends/allocator/block.hpp"
#include "backends/allocator/statistics.hpp"

namespace assay::allocator {

// No device calls and no lock of its own: the policy that owns the books does both. Statistics change at the moments
// facts allocators section 2.8 gives.
class Books {
 public:
  // Blocks and segments of at least oversize_bytes count as oversize (kUnlimited: none).
  // `one_pool`: every block belongs to the large pool, and whoever reads the statistics calls mirror_large_pool on
  // them.
  Books(TieBreak tie_break, std::size_t oversize_bytes, bool one_pool = false);
  ~Books();
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  // A new segment and its one block, which is neither in a free list nor live: hand it out next.
  Block& open_segment(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool);
  // Forgets a segment whose one block is free. The caller has given the memory back.
  void close_segment(Block& whole);

  // Expandable segments: an address range without memory, its one block unmapped. They count in no statistic of
  // segments or split pieces, as in PyTorch; reserved bytes follow map and unmap.
  Segment& open_range(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool);
  // Forgets a range of which nothing is mapped.
  void close_range(Segment& segment);
  // The first `bytes` of an unmapped block have got memory: they join their free neighbours and go into the free list.
  Block& map(Block& unmapped, std::size_t bytes);
  // [begin, end), inside a free block, has lost its memory and joins its unmapped neighbours.
  void unmap(Block& free, std::uintptr_t begin, std::uintptr_t end);

  // Makes a block that has left its free list live. With `split` its first `rounded` bytes are handed out and the rest
  // becomes a free block; with `from_the_end` (expandable segments
  // only) its last bytes are handed out and the beginning stays free.
  Block& hand_out(Block& block, std::size_t rounded, std::size_t requested, Category category, bool split,
                  bool from_the_end = false);
  // The live block that starts at `pointer`, or null.
  [[nodiscard]] Block* find_live(const void* pointer);
  // The caller gave the block back: it is no longer live, but stays active.
  void request_free(Block& block);
  // No stream uses the block any more: it joins its free neighbours and goes into the free list.
  void complete_free(Block& block);

  [[nodiscard]] std::size_t reserved_bytes() const {
    return static_cast<std::size_t>(statistics_.reserved_bytes[0].current);
  }
  [[nodiscard]] std::size_t largest_free_bytes() const;
  [[nodiscard]] std::vector<SegmentInfo> snapshot() const;  // by a walk, segments in address order

  using Segments = boost::intrusive::list<Segment>;
  [[nodiscard]] Segments& segments() { return segments_; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  struct ByAddress {
    using type = std::uintptr_t;
    const type& operator()(const Block& block) const { return block.address; }
  };
  struct AddressHash {
    std::size_t operator()(std::uintptr_t address) const { return (address >> 9) * 0x9E3779B97F4A7C15u >> 20; }
  };
  using Live =
      boost::intrusive::unordered_set<Block, boost::intrusive::base_hook<LiveHook>,
                                      boost::intrusive::key_of_value<ByAddress>, boost::intrusive::hash<AddressHash>,
                                      boost::intrusive::power_2_buckets<true>>;

  Block& new_block();
  void retire(Block& block);
  Segment& new_segment(std::uintptr_t address, std::size_t bytes, assay_stream* stream, Pool& pool);
  Block& cut(Block& block, std::size_t bytes);
  Block& make_live(Block& block, std::size_t requested, Category category);
  // Joins a free neighbour into `block`; the bytes gained, 0 when the neighbour is none, in use or not mapped alike.
  std::size_t absorb(Block& block, Block* neighbour) {
    if (neighbour == nullptr || neighbour->state != BlockState::inactive || neighbour->mapped != block.mapped) return 0;
    return join(block, neighbour);
  }
  std::size_t join(Block& block, Block* neighbour);
  void insert_live(Block& block);

  const TieBreak tie_break_;
  const std::size_t oversize_bytes_;
  const bool one_pool_;
  std::uint64_t segments_opened_ = 0;
  std::deque<Block> block_store_;
  std::vector<Block*> spare_blocks_;
  std::deque<Segment> segment_store_;
  std::vector<Segment*> spare_segments_;
  Segments segments_;
  std::vector<Live::bucket_type> buckets_;
  Live live_;
  Statistics statistics_;
};

}  // namespace assay::allocator
