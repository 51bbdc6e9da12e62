// SPDX-License-Identifier: Apache-2.0
// report_entry: one event of a child to its parent, on the report descriptor.
#pragma once

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"

namespace assay::cli {

// Errors: output when nobody listens.
Result<void> report_entry(const JournalEntry& entry);

}  // namespace assay::cli
