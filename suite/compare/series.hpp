// SPDX-License-Identifier: Apache-2.0
// Series: documents of one side merged by what executed, refused where identity or plan does not allow it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"
#include "suite/identity/compare.hpp"

namespace assay::compare {

// A document as it was read, and what messages call it.
struct Source {
  std::string path;
  RunDocument document;
};

// One device section of one source; both outlive it.
struct Part {
  const Source* source = nullptr;
  const DeviceSection* section = nullptr;
};

// The launches of one plan on one identity.
struct Series {
  std::string subject;  // "host x86_64", "cuda sm_90"; with the device's name where two series share one
  std::vector<Part> parts;
  std::vector<std::string> boards;  // distinct uuids; an unknown one is listed once a section as ""

  [[nodiscard]] const Identity& identity() const { return parts.front().section->identity; }
  [[nodiscard]] const Plan& plan() const { return parts.front().source->document.plan; }
};

// "<run id>#<order>", unique among all launches there are.
[[nodiscard]] std::string launch_id(const Source& source, const Launch& launch);

// Errors: bad_input when a launch stands in both sides or twice in one.
[[nodiscard]] Result<void> check_launch_ids(std::span<const Source> baseline, std::span<const Source> candidate);

// The series of one side, in the order of the first document's devices. Devices of one document that are the same thing
// become one series. Errors: not_comparable when two documents have different plans, or a device of a later one is not
// what the first one measured, listing the fields; bad_input when a document holds no device.
[[nodiscard]] Result<std::vector<Series>> series_of(std::span<const Source> sources);

// "driver: 550.54 and 560.35; runtime_version: ...", at most `limit` of them.
[[nodiscard]] std::string listed(const std::vector<identity::Difference>& differences, std::size_t limit = 6);

}  // namespace assay::compare
