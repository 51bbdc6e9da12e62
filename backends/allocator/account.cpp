// SPDX-License-Identifier: Apache-2.0
// The account by a walk over the blocks, and the rule that names the cause of an out-of-memory.
#include "backends/allocator/account.hpp"

#include <algorithm>

namespace assay::allocator {
namespace {

std::int64_t signed_bytes(std::size_t bytes) {
  return static_cast<std::int64_t>(std::min(bytes, kLargestRequestBytes));  // sums of these cannot overflow
}

PoolAccount& pool_of(Account& account, const SegmentInfo& segment) {
  const auto found = std::find_if(account.pools.begin(), account.pools.end(), [&](const PoolAccount& pool) {
    return pool.stream == segment.stream && pool.pool_id == segment.id() && pool.small_pool == segment.small_pool;
  });
  if (found != account.pools.end()) return *found;
  PoolAccount pool;
  pool.stream = segment.stream;
  pool.pool_id = segment.id();
  pool.small_pool = segment.small_pool;
  return account.pools.emplace_back(pool);
}

void add_active(Account& account, const BlockInfo& block, const Options& options) {
  const std::size_t requested = std::min(block.requested_bytes, block.bytes);
  const std::size_t rounded =
      requested > kLargestRequestBytes ? requested : std::min(round_request(options, requested), block.bytes);
  account.active_bytes += signed_bytes(block.bytes);
  account.requested_bytes += signed_bytes(requested);
  account.rounding_bytes += signed_bytes(rounded - requested);
  account.slack_bytes += signed_bytes(block.bytes - rounded);
}

std::string number(std::int64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

std::string optional_number(const std::optional<std::int64_t>& bytes) {
  return bytes ? number(*bytes) : "an unknown number of bytes";
}

// What the allocator may still take where the device has `room` free.
std::int64_t capped(std::int64_t room, const Account& account, const DeviceRoom& device) {
  if (!device.limit_bytes) return room;
  return std::clamp<std::int64_t>(*device.limit_bytes - account.reserved_bytes, 0, room);
}

std::string own_pieces(const Verdict& v) {
  if (v.own_free_pieces == 0) return "no free piece in its own stream";
  return number(v.own_free_bytes) + " free in " + std::to_string(v.own_free_pieces) +
         (v.own_free_pieces == 1 ? " piece" : " pieces") + " of its own stream, the largest of " +
         number(v.own_largest_bytes);
}

std::string fragmentation_sentence(const Verdict& v) {
  const std::int64_t device = v.device_free_bytes.value_or(0);
  std::string text = own_pieces(v) + ", and " + optional_number(v.device_free_bytes) + " free on the device";
  if (v.own_largest_bytes >= v.needed_bytes)
    return text +
           ": a piece is large enough, but the policy's limits of splitting keep it for larger requests; raise "
           "max_split_size_mb or leave it out.";
  if (device >= v.growth_bytes)
    return text +
           ": the device refused what it shows as free, so its free memory is in pieces, or somebody held it at "
           "that moment; try again, or use a policy that maps memory (expandable, remapping).";
  if (device >= v.needed_bytes)
    return text + ": enough for the block, but the policy takes at least " + number(v.growth_bytes) +
           " from the device at once; use a policy that maps memory (expandable, remapping).";
  return text +
         ": enough together, but not in one piece; use a policy that maps memory (expandable, remapping), or "
         "obtain the largest blocks first.";
}

std::string sentence_of(const Verdict& v, const DeviceRoom& device) {
  const std::string head = std::string(to_text(v.cause)) + ": " + number(v.needed_bytes) + " were needed; ";
  switch (v.cause) {
    case Cause::fragmentation:
      return head + fragmentation_sentence(v);
    case Cause::other_stream_cache:
      return head + own_pieces(v) + ", " + optional_number(v.device_free_bytes) + " free on the device, and " +
             number(v.other_cache_bytes) +
             " kept for other streams or private pools would have been enough; empty the cache, use fewer streams, or "
             "let the streams share one.";
    case Cause::other_process: {
      std::string own;
      if (device.own_external_bytes.value_or(0) > 0)
        own = " (" + number(*device.own_external_bytes) + " of it by this process)";
      return head + own_pieces(v) + ", " + optional_number(v.device_free_bytes) + " free on the device, and " +
             optional_number(v.outside_bytes) + " of the device are held outside this allocator" + own +
             "; end the other user of the device or choose another device.";
    }
    case Cause::too_little_memory:
      return head + number(v.active_bytes) + " are in use, and with everything else free " +
             optional_number(v.missing_bytes) + " would still be missing" +
             (device.limit_bytes ? " under the allocator's limit of " + number(*device.limit_bytes) : std::string()) +
             "; lower the load, or use a device with more memory.";
    case Cause::unknown:
      break;
  }
  return head + own_pieces(v) + ", " + number(v.other_cache_bytes) +
         " kept for other streams or private pools, and the device does not say what it has free; read its memory by "
         "another way.";
}

}  // namespace

double Account::external_fragmentation() const {
  if (free_bytes <= 0) return 0;
  return 1.0 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
}

std::int64_t Account::stranded_bytes(const assay_stream* stream) const {
  std::int64_t bytes = 0;
  for (const PoolAccount& pool : pools)
    if (pool.stream != stream) bytes += pool.free_bytes;
  return bytes;
}

Account account_of(const std::vector<SegmentInfo>& segments, const Options& options) {
  Account account;
  for (const SegmentInfo& segment : segments) {
    PoolAccount& pool = pool_of(account, segment);
    for (const BlockInfo& block : segment.blocks) {
      const std::int64_t bytes = signed_bytes(block.bytes);
      pool.reserved_bytes += bytes;
      if (block.state == BlockState::inactive) {
        pool.free_bytes += bytes;
        ++pool.free_pieces;
        pool.largest_free_bytes = std::max(pool.largest_free_bytes, bytes);
        continue;
      }
      pool.active_bytes += bytes;
      if (block.state == BlockState::active_pending_free) pool.pending_bytes += bytes;
      add_active(account, block, options);
    }
  }
  for (const PoolAccount& pool : account.pools) {
    account.reserved_bytes += pool.reserved_bytes;
    account.pending_bytes += pool.pending_bytes;
    account.free_bytes += pool.free_bytes;
    account.free_pieces += pool.free_pieces;
    account.largest_free_bytes = std::max(account.largest_free_bytes, pool.largest_free_bytes);
    if (pool.pool_id != MempoolId{}) account.private_bytes += pool.reserved_bytes;
  }
  return account;
}

RefusedRequest refused_request(std::string_view policy, const Options& options, std::size_t bytes,
                               const assay_stream* stream) {
  RefusedRequest request;
  request.bytes = bytes;
  request.stream = stream;
  request.rounded_bytes =
      policy == "direct" || policy == "native" || bytes > kLargestRequestBytes ? bytes : round_request(options, bytes);
  request.growth_bytes = policy == "caching" && bytes <= kLargestRequestBytes
                             ? segment_bytes(options, request.rounded_bytes)
                             : request.rounded_bytes;
  return request;
}

std::string_view to_text(Cause cause) {
  switch (cause) {
    case Cause::too_little_memory:
      return "too little memory";
    case Cause::fragmentation:
      return "fragmentation";
    case Cause::other_stream_cache:
      return "another stream's cache";
    case Cause::other_process:
      return "another process";
    case Cause::unknown:
      break;
  }
  return "unknown cause";
}

Verdict explain(const Account& account, const RefusedRequest& request, const DeviceRoom& device) {
  Verdict v;
  v.needed_bytes = signed_bytes(request.rounded_bytes != 0 ? request.rounded_bytes : request.bytes);
  v.growth_bytes = std::max(signed_bytes(request.growth_bytes), v.needed_bytes);
  v.active_bytes = account.active_bytes - account.pending_bytes;
  for (const PoolAccount& pool : account.pools) {
    v.other_cache_bytes += pool.pending_bytes;
    if (pool.stream != request.stream || pool.pool_id != request.pool_id) {
      v.other_cache_bytes += pool.free_bytes;
      continue;
    }
    v.own_free_bytes += pool.free_bytes;
    v.own_free_pieces += pool.free_pieces;
    v.own_largest_bytes = std::max(v.own_largest_bytes, pool.largest_free_bytes);
  }
  std::int64_t room_without_others = 0;
  if (device.free_bytes) {
    const std::int64_t free = std::max<std::int64_t>(*device.free_bytes, 0);
    v.device_free_bytes = capped(free, account, device);
    room_without_others = *v.device_free_bytes;
    if (device.total_bytes) {
      v.outside_bytes =
          std::max<std::int64_t>(*device.total_bytes - free - account.reserved_bytes - device.baseline_bytes, 0);
      room_without_others = capped(free + *v.outside_bytes, account, device);
    }
  }
  const std::int64_t own = v.own_free_bytes + v.device_free_bytes.value_or(0);
  const std::int64_t cached = own + v.other_cache_bytes;
  const std::int64_t everything = v.own_free_bytes + v.other_cache_bytes + room_without_others;
  if (device.free_bytes) v.missing_bytes = std::max<std::int64_t>(v.needed_bytes - everything, 0);
  if (own >= v.needed_bytes)
    v.cause = Cause::fragmentation;
  else if (cached >= v.needed_bytes)
    v.cause = Cause::other_stream_cache;
  else if (!device.free_bytes)
    v.cause = Cause::unknown;
  else if (everything >= v.needed_bytes)
    v.cause = Cause::other_process;
  else
    v.cause = Cause::too_little_memory;
  v.sentence = sentence_of(v, device);
  return v;
}

}  // namespace assay::allocator
