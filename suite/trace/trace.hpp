// SPDX-License-Identifier: Apache-2.0
// An allocation trace: what it says of itself, the state it ends or begins with, and its events in file order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::trace {

enum class Format {
  pytorch_json,
  pytorch_pickle,
  kineto_csv,
  kineto_json,
  rmm_csv,
  umpire,
  requests_csv,
  requests_jsonl,
  assay
};

enum class Action : std::uint8_t {
  alloc,           // bytes as requested
  free_requested,  // the caller's free; the block is still held where another stream uses it
  free_completed,  // the block can be reused
  free,            // both at once: formats that know no difference
  record_stream,   // `stream` uses the block at `address`, which belongs to another stream
  segment_alloc,   // what the recorded allocator did by itself, from here on
  segment_free,
  segment_map,
  segment_unmap,
  out_of_memory,  // bytes: the request; address: free device bytes
  snapshot,       // a mark without effect
  empty_cache     // the caller gave all unused memory back to the device
};

// One event. File order is the order; the time is only a label.
struct Event {
  Action action = Action::alloc;
  std::int32_t device = 0;
  std::uint64_t stream = 0;   // the recorder's own number or handle
  std::uint64_t address = 0;  // as recorded; names the block, or the segment
  std::int64_t bytes = 0;
  std::int64_t time_us = -1;  // -1: not recorded
  std::int8_t category = -1;  // index into allocator::kCategoryNames; -1: not recorded
};

enum class RecordedState : std::uint8_t { active, pending_free, inactive };

struct RecordedBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested_bytes = 0;
  RecordedState state = RecordedState::inactive;
};

// A segment of the recorded allocator as the trace's last moment shows it, blocks in address order.
struct RecordedSegment {
  std::int32_t device = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  bool small_pool = false;
  bool expandable = false;
  std::uint64_t pool_first = 0;  // private pool, (0, 0) is the default one
  std::uint64_t pool_second = 0;
  std::vector<RecordedBlock> blocks;
};

// What the trace says of itself; "unknown" where the file does not say.
struct Origin {
  Format format = Format::assay;
  std::string framework = "unknown";  // "pytorch", "rmm", "umpire"
  std::string framework_version = "unknown";
  std::string platform = "unknown";  // "nvidia", "amd", "cpu"
  std::string device = "unknown";
  std::string settings = "unknown";        // allocator options as recorded
  std::int64_t max_split_size_bytes = -1;  // -1: unlimited, or not said
  bool expandable_segments = false;
};

struct Header {
  Origin origin;
  bool starts_empty = false;  // nothing is live before the first event: a free of an unknown pointer is then an error
  std::vector<RecordedSegment> final_segments;  // PyTorch snapshots only
  std::vector<std::string> warnings;            // what the reader of a result must know, one sentence each
};

// A trace being read, once, front to back. Not thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual const Header& header() const = 0;
  // False at the end. Errors: bad_input with file and position. After an error the source is at its end.
  virtual Result<bool> next(Event& event) = 0;
};

[[nodiscard]] std::string_view to_text(Format format);

// Opens a trace, gzip or not, and finds its format by its first bytes. Line formats are streamed; the memory of a
// snapshot is in proportion to its file. Requests are driven through a paged KV pool with default options
// (paged_kv.hpp). Errors: bad_input with file and position.
Result<std::unique_ptr<Source>> open(const std::string& path);

// Passes on the events of `source` after checking them against each other: an address freed twice with no allocation
// between, allocated twice with no free between, and, where the trace starts empty, freed before it was allocated, are
// bad_input. Keeps one entry for each address it has seen live or freed last.
std::unique_ptr<Source> checked(std::unique_ptr<Source> source, std::string path);

}  // namespace assay::trace
