// SPDX-License-Identifier: Apache-2.0
// What summary and card both say about a run document: one line each for workload and device, samples, ledgers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/document.hpp"

namespace assay::report {

// "ok", "partial", "failed" and so on, as documents spell them.
[[nodiscard]] std::string_view to_text(DocumentStatus status);
[[nodiscard]] std::string_view to_text(LaunchOutcome outcome);
[[nodiscard]] std::string_view to_text(PhaseStatus status);
[[nodiscard]] std::string_view to_text(KvKind kind);

// The text of an identity field; "unknown" when it has no value or does not exist.
[[nodiscard]] std::string field_text(const Identity& identity, std::string_view key);

// "decoder-135m, load usual: batch 1, prompt 32, decode 4, f32 storage, static KV, ..."
[[nodiscard]] std::string workload_line(const Workload& workload);

// "host:0: cpu x86_64, backend host, execution ..., model name"
[[nodiscard]] std::string device_line(const DeviceSection& device);

[[nodiscard]] bool is_cpu(const DeviceSection& device);

// Every checkpoint of a launch that has a ledger, and the equations that are off.
struct LedgerVerdict {
  std::size_t checkpoints = 0;
  std::size_t balanced = 0;
  std::vector<std::string> problems;  // "decode:end: active = requested + slack is off by 512 bytes"
};
[[nodiscard]] LedgerVerdict ledger_verdict(const Launch& launch);

// Samples of one name over the ok launches of one workload, summed up.
struct SampleSummary {
  std::string name;
  std::string unit;
  std::size_t count = 0;
  std::size_t flagged = 0;
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};
[[nodiscard]] std::vector<SampleSummary> sample_summaries(const DeviceSection& device, std::int64_t workload);

// Launches of one workload in order of their index.
[[nodiscard]] std::vector<const Launch*> launches_of(const DeviceSection& device, std::int64_t workload);

// The middle of the sorted values; of an even number the mean of the two middle ones. Needs one value at least.
[[nodiscard]] double median(std::vector<double> values);

// "12.3 ms (11.9 ms to 13.0 ms, 3 samples)"
[[nodiscard]] std::string sample_text(const SampleSummary& sample);
[[nodiscard]] std::string sample_label(std::string_view name);

}  // namespace assay::report
