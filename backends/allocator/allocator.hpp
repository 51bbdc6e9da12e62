// SPDX-License-Identifier: Apache-2.0
// Allocator: the interface every allocator policy implements over the device layer.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "backends/allocator/statistics.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

enum class BlockState : std::uint8_t { active_allocated, active_pending_free, inactive };

// One block of a segment as a snapshot shows it. requested_bytes of an inactive block is that of its last use.
struct BlockInfo {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::size_t requested_bytes = 0;
  BlockState state = BlockState::inactive;
  Category category = Category::workspace;
};

// PyTorch's name of a pool: (0, 0) is the default one, (n, 0) one of a graph capture, (0, n) one a user made.
struct MempoolId {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  auto operator<=>(const MempoolId&) const = default;
};

// One device allocation (or, for expandable policies, one contiguous mapped range), its blocks in address order.
struct SegmentInfo {
  std::uintptr_t address = 0;
  std::size_t total_bytes = 0;
  assay_stream* stream = nullptr;
  bool small_pool = false;
  bool expandable = false;
  std::uint64_t pool_id = 0;  // with pool_id_second the MempoolId
  std::uint64_t pool_id_second = 0;
  [[nodiscard]] MempoolId id() const { return {pool_id, pool_id_second}; }
  std::vector<BlockInfo> blocks;
};

// What the statistics of a policy are worth where a runtime's own pool stands behind it.
struct Reliability {
  bool reserved_peak_exact = true;  // else an upper bound
  bool segments_known = true;       // else segments, split pieces and device calls do not move
  bool block_peaks_exact = true;    // of every other statistic; else sums of parts, an upper bound
};

// What an allocator holds at this moment, in bytes; the words are those of Statistics.
struct Usage {
  std::size_t requested_bytes = 0;
  std::size_t allocated_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t reserved_bytes = 0;
};

inline Usage usage_of(const Statistics& statistics) {
  return {static_cast<std::size_t>(statistics.requested_bytes[0].current),
          static_cast<std::size_t>(statistics.allocated_bytes[0].current),
          static_cast<std::size_t>(statistics.active_bytes[0].current),
          static_cast<std::size_t>(statistics.reserved_bytes[0].current)};
}

// A stream-ordered allocator for one device.
//
// Stream order: memory from allocate(n, s) may be used at once by work on `s`. deallocate(p) may be called while work
// on p's own stream is pending; the block is reused only in that stream's order. Work on any other stream must be named
// with record_stream before deallocate; the block is then held back until that stream has passed the point of the free.
// Threads: every member may be called from several threads at once.
// Errors: out_of_memory and map_limit are ordinary answers; the allocator stays usable after them. A pointer that is
// not live is ErrorCode::usage. Any other device failure is passed on as it came.
class Allocator {
 public:
  virtual ~Allocator() = default;

  // "caching", "direct", ...
  [[nodiscard]] virtual std::string_view policy() const = 0;
  // Effective options as a PYTORCH_CUDA_ALLOC_CONF string; empty when all are defaults.
  [[nodiscard]] virtual std::string options() const = 0;

  // bytes == 0 gives a null pointer and changes no statistic.
  [[nodiscard]] virtual Result<void*> allocate(std::size_t bytes, assay_stream* stream, Category category) = 0;
  // A null pointer is accepted and ignored.
  virtual Result<void> deallocate(void* pointer) = 0;
  // `stream` is going to use `pointer`; ignored when it is the stream of the allocation.
  virtual Result<void> record_stream(void* pointer, assay_stream* stream) = 0;

  // Returns every unused segment to the device, after waiting for pending frees.
  virtual Result<void> empty_cache() = 0;

  // Completes pending frees whose events have passed; waits for nothing.
  virtual Result<void> process_events() = 0;

  [[nodiscard]] virtual Statistics statistics() const = 0;
  // The current values alone, cheap enough to be read after every operation.
  [[nodiscard]] virtual Usage usage() const { return usage_of(statistics()); }
  virtual void reset_peaks() = 0;        // peak = current; frees nothing
  virtual void reset_accumulated() = 0;  // allocated = freed = 0, scalar counters = 0

  // Private pools, for graph captures and for memory a user wants apart. Between begin and end every request on a
  // stream that `uses` accepts is served from pool `id`, frees with foreign streams are held back unrecorded, and no
  // memory returns to the device. `uses` is called with the allocator's lock held and must not call it. A second begin
  // of an ended pool shares it. After as many release_pool as begin_pool the pool's unused memory may go back to the
  // device; what is live in it stays, and its frees return to it. Errors: usage for (0, 0), a pool already begun, or
  // one not begun; unsupported where the policy keeps no pools.
  virtual Result<void> begin_pool(MempoolId id, std::function<bool(assay_stream*)> uses);
  virtual Result<void> end_pool(MempoolId id);
  virtual Result<void> release_pool(MempoolId id);

  [[nodiscard]] virtual Reliability reliability() const { return {}; }
  // What a reader of the figures must know besides, one sentence each, without a full stop.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

  // Built by walking the segments and blocks, not from the counters.
  [[nodiscard]] virtual std::vector<SegmentInfo> snapshot() const = 0;
};

}  // namespace assay::allocator
