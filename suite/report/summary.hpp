// SPDX-License-Identifier: Apache-2.0
// The summary of a run or measure document for a terminal: phases, memory, ledger, times, checks, failures.
#pragma once

#include <string>

#include "results-schema/types/document.hpp"

namespace assay::report {

// Lines of at most kScreenColumns. `color` marks status words with terminal colours.
[[nodiscard]] std::string summary(const RunDocument& document, bool color);

}  // namespace assay::report
