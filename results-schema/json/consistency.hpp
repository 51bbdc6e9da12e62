// SPDX-License-Identifier: Apache-2.0
// Rules between the values of one document: platform and backend, counters and ledger, samples and phases, status.
#pragma once

#include <string_view>

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"

namespace assay::json::detail {

// Errors: bad_input with the first contradiction.
Result<void> check_consistency(const RunDocument& document, std::string_view name);

}  // namespace assay::json::detail
