// SPDX-License-Identifier: Apache-2.0
// The options that say what work a run does, without where and how it is kept.
#pragma once

#include <CLI/App.hpp>

#include "suite/plan/request.hpp"

namespace assay::cli {

// Workload, allocator, launches and time limit.
void add_work_options(CLI::App& command, planning::Request& request);

}  // namespace assay::cli
