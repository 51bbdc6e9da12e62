// SPDX-License-Identifier: Apache-2.0
// A plan from a file: believed no more than a command line is.
#pragma once

#include <string>
#include <string_view>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"

namespace assay::planning {

// Reads the plan in `path` and checks everything but its devices with the bounds of the command line. Errors: bad_input
// in one sentence that names the file and the place in it.
Result<Plan> read_plan_file(const std::string& path);

// The same for text; `name` is what messages call it.
Result<Plan> parse_plan(std::string_view text, std::string_view name);

// Whether the plan's devices can be meant: each once, its module there, its options known. Errors: bad_input, as above.
Result<void> check_planned_devices(const Plan& plan, std::string_view name);

// The options of device_open that a plan may hold: memory_bytes, wave, threads and block of the host. Errors: usage.
Result<void> check_device_option(std::string_view key, std::string_view value);

// `text` with the field names of a config.json (as model::check_dimensions says them) replaced by a plan's, or by the
// options of the command line.
enum class Wording { plan, options };
std::string worded(std::string text, Wording wording);

}  // namespace assay::planning
