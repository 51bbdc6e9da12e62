// SPDX-License-Identifier: Apache-2.0
// The largest numbers a plan may hold, whether they were typed or read from a file.
#pragma once

#include <cstdint>

namespace assay::planning {

inline constexpr std::int64_t kMostLaunches = 10'000;
inline constexpr std::int64_t kMostSeconds = 1'000'000;  // of one launch
inline constexpr std::int64_t kMostPasses = 10'000;      // repeats or warm-ups: each is a phase of the document
inline constexpr std::int64_t kMostThreads = 4096;       // workers of the host backend
inline constexpr std::int64_t kMostWorkloads = 1000;
inline constexpr std::int64_t kMostDevices = 1024;
inline constexpr std::int64_t kMostOrdinal = 1 << 20;
inline constexpr std::int64_t kLargest = (std::int64_t{1} << 53) - 1;  // of a document's integers

}  // namespace assay::planning
