// SPDX-License-Identifier: Apache-2.0
// execute: a plan made into a document: identity, kernel checks, launches, each in a child process, journalled.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"
#include "suite/measure/instruments.hpp"
#include "suite/modules/identify.hpp"
#include "suite/modules/probe.hpp"

namespace assay::run {

struct Request {
  Plan plan;
  DocumentKind kind = DocumentKind::run;
  std::vector<std::string> argv;
  std::string suite_version;
  std::string suite_commit;
  bool suite_dirty = false;
  std::filesystem::path output;        // does not exist; its journal does not either
  std::optional<RunDocument> resumed;  // what an earlier, cut short run of the same plan has
  std::string program;                 // whose hidden commands the children run
  modules::Prober prober;
  bool check_kernels = true;
  measure::Instruments instruments;         // files named by path_of_launch
  std::vector<std::int64_t> slow_permille;  // by device, for the self-test; missing ones are 0
  // Told what is being done, e.g. "launch 2 of 6 on host:0: warm_forward". May be empty.
  std::function<void(std::string_view)> on_progress;

  [[nodiscard]] std::int64_t slow_permille_of(std::size_t device) const {
    return device < slow_permille.size() ? slow_permille[device] : 0;
  }
};

struct Outcome {
  RunDocument document;
  bool interrupted = false;
  std::optional<Error> stopped;  // why no further child could be started
};

// Runs the plan. The journal beside the output holds every event when it happened; the document is written once,
// validated, at the end, and the journal removed. A launch that fails, crashes or hangs costs only itself; an interrupt
// ends the launch in progress and writes what there is. Nothing is left behind when the refusal comes before the first
// event. Errors: not_comparable (the device refuses to be measured, or is not the resumed run's), output (journal or
// document cannot be written; the journal is kept and named), and those of identifying a device.
Result<Outcome> execute(const Request& request);

// Processes the plan starts when nothing is resumed.
[[nodiscard]] std::int64_t launch_count(const Plan& plan);

// One process to start.
struct Step {
  std::size_t device = 0;
  std::size_t workload = 0;
  std::int64_t index = 0;  // of the launch within device and workload
  bool operator==(const Step&) const = default;
};

// The order of the processes: rounds over all workloads, and inside each the devices forwards, then backwards (A B B
// A), so that a drift of the machine falls on every device alike.
[[nodiscard]] std::vector<Step> schedule(const Plan& plan);

// Without what is already there: a launch counts unless it was cut short.
[[nodiscard]] std::vector<Step> missing_steps(const Plan& plan, const RunDocument& document);

// Removes the launches that were cut short, which are to be run again.
void drop_cut_short(RunDocument& document);

// "2026-01-02T03:04:05Z", now.
[[nodiscard]] std::string timestamp();
// 16 hexadecimal digits from the system's random source.
[[nodiscard]] std::string random_id();

}  // namespace assay::run
