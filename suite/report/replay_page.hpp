// SPDX-License-Identifier: Apache-2.0
// replay_page: what a replay found, for a terminal.
#pragma once

#include <string>

#include "results-schema/types/replay.hpp"

namespace assay::report {

// No line is longer than kScreenColumns. Times are left out: the same trace gives the same page.
[[nodiscard]] std::string replay_page(const ReplayedTrace& trace);

}  // namespace assay::report
