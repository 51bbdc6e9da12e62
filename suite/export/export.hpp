// SPDX-License-Identifier: Apache-2.0
// Run documents in the formats of other programs: derived files, made anew whenever they are wanted.
#pragma once

#include <string>

#include "results-schema/types/document.hpp"

namespace assay::exporting {

// Trace events as Chrome's tracing and Perfetto read them ("Trace Event Format", JSON object form): phases as complete
// events, the allocator's requested, allocated, active and reserved bytes as counters, a process a launch. Times are
// microseconds since the first launch; a document holds the durations of phases, not their starts, so that phases are
// laid end to end from the start of their launch, and the trace says so.
[[nodiscard]] std::string chrome_trace(const RunDocument& document);

// OpenMetrics 1.0 text for a textfile collector or a pushgateway: the median of each case in seconds or its own unit,
// and the peaks of each phase in bytes, labelled with device and workload; ends in # EOF.
[[nodiscard]] std::string openmetrics(const RunDocument& document);

// JSON as Google Benchmark writes it and its compare.py reads it: each case measured in time, one repetition a launch,
// its value the launch's median in nanoseconds. Rates and memory have no place there.
[[nodiscard]] std::string google_benchmark(const RunDocument& document);

}  // namespace assay::exporting
