// SPDX-License-Identifier: Apache-2.0
// The account of an allocator's memory at one instant, and the cause of a refused request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/options.hpp"

namespace assay::allocator {

// Bytes of one pool of one stream: blocks only move inside such a pool.
struct PoolAccount {
  assay_stream* stream = nullptr;
  MempoolId pool_id;  // (0, 0): the default pool; else a private one
  bool small_pool = false;
  std::int64_t reserved_bytes = 0;
  std::int64_t active_bytes = 0;   // live, and freed ones still waiting for a stream
  std::int64_t pending_bytes = 0;  // of these, freed by the caller
  std::int64_t free_bytes = 0;
  std::int64_t largest_free_bytes = 0;
  std::int64_t free_pieces = 0;
  bool operator==(const PoolAccount&) const = default;
};

// Where the reserved memory is. reserved = active + free; active = requested + rounding + unsplit slack.
struct Account {
  std::int64_t reserved_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t pending_bytes = 0;    // of the active: freed by the caller, held for a stream
  std::int64_t requested_bytes = 0;  // of active blocks
  std::int64_t rounding_bytes = 0;   // from the request to the size a block of it has
  std::int64_t slack_bytes = 0;      // from there to the block handed out: too little to be split off
  std::int64_t free_bytes = 0;
  std::int64_t largest_free_bytes = 0;
  std::int64_t free_pieces = 0;
  std::int64_t private_bytes = 0;  // reserved by private pools
  std::vector<PoolAccount> pools;  // in the order in which the snapshot shows them first
  bool operator==(const Account&) const = default;

  // External fragmentation: the share of the free bytes that is not in the largest piece, 0 where nothing is free.
  [[nodiscard]] double external_fragmentation() const;
  // Free bytes cached for streams other than `stream`.
  [[nodiscard]] std::int64_t stranded_bytes(const assay_stream* stream) const;
};

// A walk over the blocks; no counter is looked at. `options` gives the rounding (the defaults fit every policy: a block
// smaller than its rounded request counts as rounded no further than its size).
[[nodiscard]] Account account_of(const std::vector<SegmentInfo>& segments, const Options& options = {});

// What the device says, in bytes; nothing where it cannot be read.
struct DeviceRoom {
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> free_bytes;
  std::int64_t baseline_bytes = 0;                 // context and modules: nobody can give them back
  std::optional<std::int64_t> limit_bytes;         // most this allocator may reserve (per_process_memory_fraction)
  std::optional<std::int64_t> own_external_bytes;  // held by this process outside the allocator
};

// The request that was refused.
struct RefusedRequest {
  std::size_t bytes = 0;          // as asked for
  std::size_t rounded_bytes = 0;  // of the block it needs; 0: as asked for
  std::size_t growth_bytes = 0;   // least the policy asks the device for to serve it; 0: the rounded bytes
  const assay_stream* stream = nullptr;
  MempoolId pool_id;
};
// With the rounding and the segment size of `caching` under `options`; growth is the block itself where `policy` maps
// memory or keeps none.
[[nodiscard]] RefusedRequest refused_request(std::string_view policy, const Options& options, std::size_t bytes,
                                             const assay_stream* stream);

enum class Cause : std::uint8_t { too_little_memory, fragmentation, other_stream_cache, other_process, unknown };
[[nodiscard]] std::string_view to_text(Cause cause);  // "too little memory", "fragmentation", ...

// Why there was no memory. Terms in bytes, each read at the same instant.
struct Verdict {
  Cause cause = Cause::unknown;
  std::int64_t needed_bytes = 0;       // of the block
  std::int64_t growth_bytes = 0;       // of the least step the device was asked for
  std::int64_t own_free_bytes = 0;     // free pieces of the request's stream, outside private pools of others
  std::int64_t own_largest_bytes = 0;  // the largest of them
  std::int64_t own_free_pieces = 0;
  std::int64_t other_cache_bytes = 0;  // free for, or held by a pending free of, other streams and private pools
  std::int64_t active_bytes = 0;       // in use by this allocator's callers
  std::optional<std::int64_t> device_free_bytes;  // that this allocator may still take
  std::optional<std::int64_t> outside_bytes;      // of the device, held outside this allocator; baseline not counted
  std::optional<std::int64_t>
      missing_bytes;     // what would still be missing if all of the above but the active were free
  std::string sentence;  // names the cause, its numbers, and what to do
};

// The rule, complete: the terms are added up in this order, and the one that makes the sum reach the needed bytes is
// the cause.
//   1. free pieces of the request's own stream + what the device has free  -> fragmentation: enough, but not in a form
//      the request can have (no piece is large enough, and the device's rest is below the policy's least step);
//   2. + caches of other streams and private pools, pending frees included -> another stream's cache;
//   3. + device memory held outside this allocator                        -> another process;
//   4. otherwise                                                           -> too little memory.
// A limit of the allocator's own caps what the device has free, also with 3. Where the device cannot be read and the
// pieces and caches alone are not enough, the cause is unknown.
[[nodiscard]] Verdict explain(const Account& account, const RefusedRequest& request, const DeviceRoom& device);

}  // namespace assay::allocator
