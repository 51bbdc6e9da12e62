// SPDX-License-Identifier: Apache-2.0
// The replay document as C++ values: traces, what each allocator policy needed for them, and what was verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/document.hpp"
#include "results-schema/types/quantity.hpp"

namespace assay {

// What a trace says of itself; "unknown" where it does not.
struct ReplayOrigin {
  std::string format;
  std::string framework;
  std::string framework_version;
  std::string platform;
  std::string device;
  std::string settings;
  bool operator==(const ReplayOrigin&) const = default;
};

// What was live before the first event.
struct ReplayBeginning {
  bool reconstructed = false;  // the trace does not start empty: the blocks are what it shows of that time
  std::int64_t blocks = 0;
  std::int64_t requested_bytes = 0;
  bool operator==(const ReplayBeginning&) const = default;
};

struct ReplayCalls {
  std::int64_t malloc = 0;
  std::int64_t free = 0;
  std::int64_t map = 0;
  std::int64_t unmap = 0;
  std::int64_t total = 0;
  bool operator==(const ReplayCalls&) const = default;
};

// The request that ended a policy's replay.
struct ReplayRefusal {
  bool at_beginning = false;  // one of the blocks live before the first event
  std::int64_t event = 0;     // index in the trace
  std::optional<std::int64_t> time_us;
  std::int64_t requested_bytes = 0;
  std::string stream;    // as recorded, hexadecimal
  std::string cause;     // "fragmentation", ...; empty where the request was refused for another reason than memory
  std::string sentence;  // the account in words, with the bytes of each part
  bool operator==(const ReplayRefusal&) const = default;
};

// Memory over the events, columns of equal length; each point holds the largest values since the point before.
struct ReplaySeries {
  std::int64_t events_per_point = 1;
  std::vector<std::int64_t> event;    // index of the last one of each point
  std::vector<std::int64_t> time_us;  // of that event; empty where the trace has no times
  std::vector<std::int64_t> requested_bytes;
  std::vector<std::int64_t> active_bytes;
  std::vector<std::int64_t> reserved_bytes;
  bool operator==(const ReplaySeries&) const = default;
};

// Blocks of one state, one behind the other.
struct ReplayRun {
  std::string state;  // "active_allocated", "active_pending_free", "inactive"
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  bool operator==(const ReplayRun&) const = default;
};

struct ReplaySegment {
  std::string address;  // of the simulated device, hexadecimal
  std::int64_t bytes = 0;
  std::string stream;
  std::string pool;  // "small" or "large"
  bool expandable = false;
  std::int64_t active_bytes = 0;
  std::int64_t largest_free_bytes = 0;
  std::vector<ReplayRun> runs;  // in address order; empty where the bound of the map left them out
  bool operator==(const ReplaySegment&) const = default;
};

struct ReplayStream {
  std::string stream;
  std::int64_t reserved_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t free_bytes = 0;  // no other stream can have them
  bool operator==(const ReplayStream&) const = default;
};

// Where the memory was after the first event with the most reserved bytes.
struct ReplayLayout {
  std::int64_t requested_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t free_bytes = 0;
  std::int64_t free_pieces = 0;
  std::int64_t largest_free_bytes = 0;
  std::vector<ReplayStream> streams;
  std::vector<ReplaySegment> segments;  // in address order; the largest ones where there are too many
  std::int64_t segments_left_out = 0;
  std::int64_t runs_left_out = 0;
  bool operator==(const ReplayLayout&) const = default;
};

// One policy on one device of the trace. Every number is computed; only the time is observed.
struct ReplayPolicy {
  std::string policy;
  std::string options;
  std::int64_t device = 0;
  std::int64_t peak_requested_bytes = 0;
  std::int64_t peak_active_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  double reserved_per_active = 0;             // of the peaks; 0 where nothing was active
  std::int64_t largest_free_block_bytes = 0;  // at the peak of the reserved bytes
  double external_fragmentation = 0;          // there: the share of the free bytes that is not in that block
  std::int64_t device_allocations = 0;        // mallocs and maps
  ReplayCalls device_calls;
  ReplayCalls device_calls_at_beginning;  // of these, for the blocks live before the first event
  std::int64_t retries = 0;
  std::int64_t operations = 0;  // allocations and frees
  bool out_of_memory = false;
  std::optional<ReplayRefusal> refusal;
  std::optional<std::int64_t> min_capacity_bytes;  // the smallest device that holds it, to the next 2 MiB
  std::optional<Quantity> time_per_operation;
  std::optional<ReplaySeries> series;
  std::optional<ReplayLayout> at_peak;
  bool operator==(const ReplayPolicy&) const = default;
};

// What one option of the best configuration saves: the same configuration without it needs so much more.
struct ReplaySaving {
  std::string option;
  std::int64_t reserved_bytes = 0;  // negative: it costs them
  std::int64_t device_calls = 0;
  bool operator==(const ReplaySaving&) const = default;
};

// The configuration of PyTorch's allocator with the least peak of reserved bytes among those tried.
struct ReplayBest {
  std::string options;  // PYTORCH_CUDA_ALLOC_CONF; empty: the defaults
  std::int64_t tried = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t device_calls = 0;
  std::int64_t default_peak_reserved_bytes = 0;
  std::int64_t default_device_calls = 0;
  bool fits = true;  // false: every configuration ran out of memory
  std::vector<ReplaySaving> savings;
  bool operator==(const ReplayBest&) const = default;
};

struct ReplayDivergence {
  std::int64_t event = 0;
  std::string action;
  std::string expected;
  std::string got;
  bool operator==(const ReplayDivergence&) const = default;
};

struct ReplayCandidate {
  std::string address;
  std::int64_t requested_bytes = 0;
  std::int64_t least_bytes = 0;
  std::int64_t most_bytes = 0;
  bool operator==(const ReplayCandidate&) const = default;
};

// One device of a recording under the rules of `caching`.
struct ReplayVerification {
  std::int64_t device = 0;
  std::string outcome;  // "matched", "diverged", "ambiguous"
  std::string options;
  std::int64_t allocations = 0;
  std::int64_t allocations_matched = 0;
  std::int64_t segment_events = 0;
  std::int64_t segment_events_matched = 0;
  std::int64_t blocks_at_beginning = 0;
  std::int64_t sizes_inferred = 0;
  std::optional<ReplayDivergence> first_divergence;
  std::vector<ReplayCandidate> candidates;
  bool operator==(const ReplayVerification&) const = default;
};

// One policy on a real device: every block written when it is allocated and read when it is freed.
struct ReplayOnDevice {
  std::string target;  // "host:0"
  std::string policy;
  std::string options;
  std::int64_t device = 0;  // of the trace
  std::int64_t peak_requested_bytes = 0;
  std::int64_t peak_active_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t device_allocations = 0;
  std::int64_t retries = 0;
  std::int64_t bytes_written = 0;
  std::int64_t blocks_checked = 0;
  std::int64_t blocks_overwritten = 0;
  std::string first_overwritten;  // empty: none
  bool out_of_memory = false;
  std::string failure;  // that ended it before the end of the trace; empty: none
  bool operator==(const ReplayOnDevice&) const = default;
};

struct ReplayedTrace {
  std::string file;  // as given
  ReplayOrigin origin;
  std::int64_t events = 0;
  std::int64_t allocations = 0;
  std::int64_t devices = 1;
  ReplayBeginning beginning;
  std::vector<std::string> warnings;
  std::optional<std::int64_t> capacity_bytes;
  std::vector<ReplayPolicy> policies;
  std::optional<ReplayBest> best;
  std::optional<std::vector<ReplayVerification>> verification;
  std::optional<std::vector<ReplayOnDevice>> on_device;
  bool operator==(const ReplayedTrace&) const = default;
};

struct ReplayDocument {
  RunInfo run;
  std::vector<ReplayedTrace> traces;
  DocumentStatus status = DocumentStatus::ok;
  std::vector<Failure> failures;
  bool operator==(const ReplayDocument&) const = default;
};

}  // namespace assay
