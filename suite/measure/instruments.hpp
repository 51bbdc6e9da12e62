// SPDX-License-Identifier: Apache-2.0
// What a launch records of its allocator's calls besides the protocol's counters: a recorded condition of its phases.
#pragma once

#include <cstdint>
#include <string>

namespace assay::measure {

// All of them slow the calls down, so that times taken with them are not those of a launch without.
struct Instruments {
  std::string record_trace;  // file of the allocation trace; empty: none
  std::string snapshot;      // file of the snapshot at the launch's end, or where it ran out of memory; empty: none
  bool latency = false;      // of each call
  bool operator==(const Instruments&) const = default;

  [[nodiscard]] bool any() const { return latency || !record_trace.empty() || !snapshot.empty(); }
};

// The file of one launch: `path` itself where the plan has one launch, else with the number of the process before its
// extensions: "trace.csv.gz" becomes "trace-3.csv.gz".
[[nodiscard]] std::string path_of_launch(const std::string& path, std::int64_t order, std::int64_t launches);

// With both files named for one launch.
[[nodiscard]] Instruments of_launch(const Instruments& instruments, std::int64_t order, std::int64_t launches);

}  // namespace assay::measure
