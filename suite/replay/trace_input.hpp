// SPDX-License-Identifier: Apache-2.0
// TraceInput: one trace file that a replay goes through several times, and the blocks that were live at its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/trace/paged_kv.hpp"
#include "suite/trace/trace.hpp"

namespace assay::replay {

// Some of a trace's events, one behind the other.
struct EventChunk {
  const trace::Event* events = nullptr;
  std::size_t count = 0;
  std::uint64_t first = 0;  // number of the first one, counted from 0
};

// A block that was live before the first event.
struct InitialBlock {
  std::int32_t device = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
  std::int64_t requested_bytes = 0;
};

// What was before the first event, as far as the trace tells (facts: allocators section 3.2).
struct Beginning {
  std::vector<InitialBlock> blocks;  // by device and address
  bool reconstructed = false;        // the trace does not start empty
  std::int64_t requested_bytes() const;
};

// Memory: a short trace is kept whole, a longer one is read from its file at every pass.
class TraceInput {
 public:
  // Opens the file, reads it once to its end, checks the events against each other and reconstructs the beginning.
  // A trace of LLM requests is driven through a paged KV pool with the options `requests`.
  // Errors: bad_input with file and position; usage of the options.
  static Result<std::unique_ptr<TraceInput>> open(const std::string& path, const trace::PagedKvOptions& requests = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const trace::Header& header() const { return header_; }
  [[nodiscard]] const Beginning& beginning() const { return beginning_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
  [[nodiscard]] std::int32_t devices() const { return devices_; }

  // Gives every event in order, in chunks, until `visit` returns false. Errors: as open.
  Result<void> each(const std::function<bool(const EventChunk&)>& visit) const;

 private:
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;

  TraceInput(std::string path, const trace::PagedKvOptions& requests) : path_(std::move(path)), requests_(requests) {}
  Result<void> read_first();
  Result<void> read_again(const std::function<bool(const EventChunk&)>& visit) const;

  std::string path_;
  trace::PagedKvOptions requests_;
  trace::Header header_;
  Beginning beginning_;
  std::uint64_t events_ = 0;
  std::uint64_t allocations_ = 0;
  std::int32_t devices_ = 1;
  std::vector<trace::Event> kept_;
  bool whole_ = true;  // kept_ holds them all
};

}  // namespace assay::replay
