// SPDX-License-Identifier: Apache-2.0
// TraceWriter: our own trace format, written while it is recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "suite/trace/trace.hpp"

namespace assay::trace {

// Writes "#assay-trace 1", the origin as "#key=value" lines, then one line an event. A path that ends in .gz is written
// as gzip, one whole member a write, so that what is on disk at any moment is a trace of its own: a process that is
// killed leaves a prefix that reads to its end. Lines are held back for at most kHeldBytes or kHeldTime of events.
// One thread only.
class TraceWriter {
 public:
  static constexpr std::size_t kHeldBytes = std::size_t{256} << 10;
  static constexpr std::chrono::milliseconds kHeldTime{200};

  // Errors: output when the file exists or cannot be created.
  static Result<TraceWriter> create(const std::string& path, const Origin& origin);
  TraceWriter(TraceWriter&& other) noexcept;
  TraceWriter& operator=(TraceWriter&&) = delete;
  // Flushes; what the disk refuses then is lost. Call close to know.
  ~TraceWriter();

  // After an error nothing more is written: the file ends with the last whole write.
  Result<void> write(const Event& event);
  // Hands every event so far to the operating system.
  Result<void> flush();
  Result<void> close();

 private:
  TraceWriter(std::string path, int descriptor, bool gzip);
  Result<void> put(const std::string& bytes);

  std::string path_;
  int descriptor_ = -1;
  bool gzip_ = false;
  bool failed_ = false;
  std::string held_;
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace assay::trace
