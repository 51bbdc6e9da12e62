// SPDX-License-Identifier: Apache-2.0
// A document that was read, held against itself.
#pragma once

#include <string>
#include <string_view>

#include "results-schema/types/document.hpp"
#include "results-schema/types/result.hpp"

namespace assay::run {

// SHA-256 of the plan's own text, in hexadecimal. Errors: internal.
Result<std::string> plan_hash(const Plan& plan);

// json::check_consistency, and whether the plan is the one the run began with. `newer`: the document's minor version is
// newer than ours, which then does not know the whole plan. Errors: bad_input, internal.
Result<void> check_document(const RunDocument& document, std::string_view name, bool newer);

}  // namespace assay::run
