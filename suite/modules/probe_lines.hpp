// SPDX-License-Identifier: Apache-2.0
// The lines between a probing child and its parent: one JSON object each, written and read only here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "suite/modules/probe.hpp"

namespace assay::modules {

[[nodiscard]] std::string problem_line(const Error& error);
[[nodiscard]] std::string loaded_line(const std::vector<IdentityField>& fields);
[[nodiscard]] std::string count_line(const Result<std::int32_t>& count);
[[nodiscard]] std::string opening_line(std::int32_t ordinal);
[[nodiscard]] std::string device_line(const DeviceProbe& device);
[[nodiscard]] std::string done_line();

// What the child was doing when its last line arrived.
struct Progress {
  std::string doing = "loading";
  bool done = false;
};

// Adds one line to the probe. False when it is no line of ours (a module wrote on the descriptor): it is left out.
bool take_line(std::string_view line, ModuleProbe& probe, Progress& progress);

}  // namespace assay::modules
