// SPDX-License-Identifier: Apache-2.0
// PagedKv: LLM requests driven through a paged KV pool, as the allocations and frees of its blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "suite/trace/requests.hpp"
#include "suite/trace/trace.hpp"

namespace assay::trace {

struct PagedKvOptions {
  std::int64_t bytes_per_token = 131'072;  // keys and values of 32 layers with 8 heads of 128 in 16 bits
  std::int64_t block_tokens = 16;
  std::int64_t pool_bytes = std::int64_t{64} << 30;
  std::int64_t decode_tokens_per_s = 30;       // of each running sequence: one step of the simulation makes one token
  std::int64_t prefill_tokens_per_s = 10'000;  // of a sequence, before its first step
  std::int64_t max_sequences = 256;            // running at once
  bool prefix_sharing = true;                  // where the trace has hash ids
};

// Errors: usage, naming the value that cannot be.
Result<void> check(const PagedKvOptions& options);

struct PagedKvStatistics {
  std::int64_t requests = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;      // larger than the whole pool
  std::int64_t preemptions = 0;  // a running sequence lost its blocks to an older one and was computed again later
  std::int64_t blocks_allocated = 0;
  std::int64_t blocks_freed = 0;
  std::int64_t blocks_now = 0;
  std::int64_t blocks_peak = 0;
  std::int64_t blocks_shared = 0;   // taken from the prefix cache instead of allocated
  std::int64_t blocks_evicted = 0;  // of the prefix cache
  std::int64_t sequences_peak = 0;
  std::int64_t waste_bytes_peak = 0;  // token places of allocated blocks that no token uses yet, in running sequences
  double waste_share_mean = 0;        // of the token places of running sequences, mean over the steps
  std::int64_t duration_us = 0;
};

// The rules. Time goes in steps of 1 / decode_tokens_per_s. In each step: requests that have arrived join the waiting
// ones; the first waiting one is admitted as long as the blocks of its tokens are there (free, or held by the prefix
// cache alone) and fewer than max_sequences run; each running one whose prefill is over makes a token, and takes a
// block where it begins one; without a block the sequence admitted last is preempted: it gives its blocks back and
// waits in front, to be computed again with the tokens it has. A finished sequence gives its blocks back. Blocks of
// whole pieces that a hash id names stay in the prefix cache, shared by count, and are evicted, least recently used
// first, when blocks are needed. A request larger than the pool is refused. At the end the cache is given back.
//
// Each block is one allocation of block_tokens * bytes_per_token; its address names it, freed places are taken again
// first in, first out. Memory in proportion to the blocks that are live. Deterministic.
class PagedKv final : public Source {
 public:
  PagedKv(std::unique_ptr<Requests> requests, Format format, const PagedKvOptions& options);

  [[nodiscard]] const Header& header() const override { return header_; }
  Result<bool> next(Event& event) override;

  // So far; complete at the end.
  [[nodiscard]] PagedKvStatistics statistics() const;

 private:
  using Block = std::int64_t;
  // The blocks of one shareable piece, and how many running sequences hold them.
  struct Piece {
    std::vector<Block> blocks;
    std::int64_t holders = 0;
    std::list<std::uint64_t>::iterator idle;  // in idle_, while nobody holds it
  };
  struct Sequence {
    LlmRequest request;
    std::int64_t made = 0;           // tokens generated so far
    std::int64_t ready_us = 0;       // the end of its prefill
    std::size_t shared = 0;          // leading hash ids whose pieces it holds
    std::int64_t shared_blocks = 0;  // of these
    std::vector<Block> own;
    [[nodiscard]] std::int64_t tokens() const { return request.context_tokens + made; }
  };

  Result<bool> step();
  Result<void> take_arrivals();
  void admit();
  bool start(Sequence& sequence);
  void decode();
  bool grow(std::size_t index);
  void preempt_last();
  void give_back(Sequence& sequence);
  void measure_waste();
  [[nodiscard]] std::int64_t next_event_us() const;
  [[nodiscard]] std::int64_t blocks_of(std::int64_t tokens) const;
  [[nodiscard]] std::size_t shareable(const LlmRequest& request) const;
  [[nodiscard]] std::int64_t available() const { return pool_blocks_ - stats_.blocks_now + idle_blocks_; }
  Block take_block();
  void free_block(Block block);
  void evict_one();
  void tell(Action action, Block block);

  std::unique_ptr<Requests> requests_;
  PagedKvOptions options_;
  Header header_;
  std::int64_t block_bytes_;
  std::int64_t pool_blocks_;
  std::int64_t step_us_;
  std::int64_t piece_blocks_ = 0;  // of one hash id; 0: nothing is shared
  std::int64_t now_us_ = 0;
  bool ended_ = false;
  bool has_next_ = false;
  LlmRequest next_;
  std::deque<Sequence> waiting_;
  std::vector<Sequence> running_;  // in the order of their admission
  std::unordered_map<std::uint64_t, Piece> pieces_;
  std::list<std::uint64_t> idle_;  // least recently used first
  std::int64_t idle_blocks_ = 0;
  std::deque<Block> freed_;
  Block fresh_ = 0;
  std::deque<Event> ready_;
  PagedKvStatistics stats_;
  double waste_sum_ = 0;
  std::int64_t waste_steps_ = 0;
};

// A request trace, its format found by its first bytes, gzip or not. Errors: bad_input, usage (the options).
Result<std::unique_ptr<PagedKv>> open_paged_kv(const std::string& path, const PagedKvOptions& options);

// As open(path) of trace.hpp, with options of the pool where the file turns out to hold requests.
Result<std::unique_ptr<Source>> open(const std::string& path, const PagedKvOptions& requests);

}  // namespace assay::trace
