// SPDX-License-Identifier: Apache-2.0
// The run and measure documents as C++ values, and the journal entries they are folded from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/memory.hpp"
#include "results-schema/types/plan.hpp"
#include "results-schema/types/quantity.hpp"

namespace assay {

inline constexpr const char* kSchemaName = "assay";
inline constexpr const char* kSchemaVersion = "1.1.0";

// Every kind an Assay document can have in schema v1. `run` and `measure` have bodies today; the others are reserved.
enum class DocumentKind { run, measure, bench, estimate, replay, frontier, compare };

enum class DocumentStatus { ok, partial, failed };

struct RunInfo {
  std::string id;           // random, unique
  std::string started_at;   // RFC 3339, UTC
  std::string finished_at;  // empty while running or when it was cut short
  std::vector<std::string> argv;
  std::string suite_version;
  std::string suite_commit;  // "unknown" for a tarball
  bool suite_dirty = false;
  std::optional<std::string> plan_sha256 = {};  // of the plan's own text (json::write_plan)
  bool operator==(const RunInfo&) const = default;
};

// Every sample of one quantity, in the order taken. flagged[i] says why sample i is suspect; empty means none.
struct SampleSeries {
  std::string name;  // "time_to_first_token", "decode_tokens_per_second", "warm_forward"
  std::string unit;
  Basis basis = Basis::observed;
  std::vector<double> values;
  std::vector<std::string> flags;  // either empty or one entry a value, "" for an unsuspected one
  bool operator==(const SampleSeries&) const = default;
};

enum class LaunchOutcome { ok, failed, crashed, hung, interrupted, running };

// How long one kind of allocator call took: "hit", "split", "miss", "free", "cross_stream_free", and "clock", the
// reading of the clock that is part of all of them.
struct CallLatency {
  std::string call;
  std::int64_t count = 0;
  Quantity p50 = missing("ns", "no call of this kind");  // percentiles: the upper end of their class of a histogram
  Quantity p99 = missing("ns", "no call of this kind");
  Quantity max = missing("ns", "no call of this kind");
  bool operator==(const CallLatency&) const = default;
};

// One process of one workload on one device.
struct Launch {
  std::int64_t index = 0;     // within device and workload
  std::int64_t order = 0;     // over the whole run: the order the processes were started in
  std::int64_t workload = 0;  // index into plan.workloads
  std::int64_t pid = 0;
  std::string started_at;
  Quantity duration = missing("ns", "the launch has not ended");
  LaunchOutcome outcome = LaunchOutcome::running;
  std::int64_t exit_code = 0;     // of the process, when it exited
  std::int64_t signal = 0;        // that ended it, or 0
  std::string message;            // why, when not ok
  std::string phase_in_progress;  // when it was cut short
  std::vector<Phase> phases;
  std::vector<SampleSeries> samples;
  std::string checksum;  // of the workload's output bytes; equal seeds give equal checksums on one device
  std::optional<std::vector<CallLatency>> allocator_latency = std::nullopt;  // where the calls were timed
  bool operator==(const Launch&) const = default;
};

enum class CaseStatus { ok, wrong, unsupported, failed };

// One kernel case: here the check of a kernel against its fp64 reference before anything it computes is believed.
struct Case {
  std::string name;  // "rmsnorm/f32/portable rows=7 width=576"
  std::string kernel;
  std::string dtype;
  std::string implementation;
  std::int64_t source_version = 0;
  CaseStatus status = CaseStatus::ok;
  Quantity error = missing("1", "not checked");  // largest error seen, in units of the tolerance's own scale
  Quantity tolerance = missing("1", "not checked");
  std::string message;
  std::optional<std::string> code;    // of a failed one, as PhaseFailure::code
  std::vector<SampleSeries> samples;  // empty where nothing was timed
  bool operator==(const Case&) const = default;
};

struct DeviceSection {
  std::string name;  // "host:0"
  std::string module_path;
  std::string module_sha256;
  Identity identity;
  std::vector<Launch> launches;
  std::vector<Case> cases;
  bool operator==(const DeviceSection&) const = default;
};

// A failure of the run as a whole, named for the reader; details stand in its launch and phase.
struct Failure {
  std::string device;
  std::int64_t launch_order = -1;  // -1: not tied to a launch
  std::string phase;
  std::string code;  // as PhaseFailure::code; "not_run" for a planned launch that never started
  std::string message;
  bool operator==(const Failure&) const = default;
};

struct RunDocument {
  DocumentKind kind = DocumentKind::run;  // run or measure
  RunInfo run;
  Plan plan;
  std::vector<DeviceSection> devices;
  DocumentStatus status = DocumentStatus::partial;
  std::vector<Failure> failures;
  bool operator==(const RunDocument&) const = default;
};

// ---- the journal: what happened, in order. A document is its first entry folded with all the others. ----

struct RunStarted {
  RunDocument document;
};  // run, plan and device names; no launches
struct DeviceIdentified {
  std::string device;
  std::string module_sha256;
  Identity identity;
};
struct CaseChecked {
  std::string device;
  Case checked;
};
struct LaunchStarted {
  std::string device;
  Launch launch;
};  // outcome running
struct PhaseStarted {
  std::int64_t launch_order = 0;
  std::string phase;
  std::int64_t repeat = 0;
};
struct PhaseFinished {
  std::int64_t launch_order = 0;
  Phase phase;
};
struct SampleTaken {
  std::int64_t launch_order = 0;
  std::string name;
  std::string unit;
  double value = 0;
  std::string flag;
};
struct OutputChecksum {
  std::int64_t launch_order = 0;
  std::string checksum;
};
struct AllocatorTimed {
  std::int64_t launch_order = 0;
  std::vector<CallLatency> calls;
};
struct LaunchFinished {
  std::int64_t launch_order = 0;
  Quantity duration = missing("ns", "not measured");
  LaunchOutcome outcome = LaunchOutcome::ok;
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string message;
};
struct RunFinished {
  std::string finished_at;
  DocumentStatus status = DocumentStatus::ok;
};

using JournalEntry = std::variant<RunStarted, DeviceIdentified, CaseChecked, LaunchStarted, PhaseStarted, PhaseFinished,
                                  SampleTaken, OutputChecksum, LaunchFinished, RunFinished, AllocatorTimed>;

}  // namespace assay
