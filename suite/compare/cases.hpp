// SPDX-License-Identifier: Apache-2.0
// What a series has measured: timed cases with a value a launch, and peaks of memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/types/compare.hpp"
#include "suite/compare/series.hpp"

namespace assay::compare {

// Two cases are the same when their names are, and all the things that make them what they are. A thing whose value is
// not known (empty) equals nothing.
struct CaseKey {
  std::string name;
  std::vector<std::pair<std::string, std::string>> things;  // "batch": "4", in a fixed order
};

// The things in which two keys of one name differ, "batch 4 and 8"; empty when they are the same case.
[[nodiscard]] std::string difference(const CaseKey& a, const CaseKey& b);

// One launch of one case.
struct LaunchValue {
  std::string id;
  std::string started_at;
  std::int64_t order = 0;
  double median = 0;
  std::string board;  // uuid, or a name of its own where that is unknown
};

struct TimedCase {
  CaseKey key;
  std::string unit;
  Better better = Better::lower;
  bool anchor = false;                // a plain copy on the device: what shows that the machine itself drifted
  std::vector<LaunchValue> launches;  // that count, in the order they were started
  std::vector<LeftOut> left_out;
  std::string wrong;  // why nothing it computes is believed; empty when nothing is known against it
};

struct MemoryCase {
  CaseKey key;  // name: "<workload>: <phase>, <counter>"
  std::string counter;
  std::int64_t highest = 0;  // of all launches and repeats
};

// The name of the sample series that is the anchor.
inline constexpr const char* kAnchor = "device_copy";

// A launch with more than this share of its samples flagged is left out.
inline constexpr double kMostFlagged = 0.1;

// A workload in few words, the same for the same shape: "decoder-135m usual b1 p32 d4 f32 static".
[[nodiscard]] std::string workload_name(const Workload& workload);

// Every sample series of launches that ended well, and of kernel cases with samples (one launch a document). Launches
// of all boards of the series together.
[[nodiscard]] std::vector<TimedCase> timed_cases(const Series& series);

// Peaks of allocated, requested and reserved bytes (exact counters of the allocator) in each phase that ended well.
[[nodiscard]] std::vector<MemoryCase> memory_cases(const Series& series);

}  // namespace assay::compare
