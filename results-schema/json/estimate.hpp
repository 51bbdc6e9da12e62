// SPDX-License-Identifier: Apache-2.0
// Estimate documents out: encoded, validated, as text.
#pragma once

#include <string>

#include "results-schema/types/estimate.hpp"
#include "results-schema/types/result.hpp"

namespace assay::json {

// As write_document, for an estimate: a document that does not satisfy its own schema is an internal error.
Result<std::string> write_estimate(const EstimateDocument& document);

}  // namespace assay::json
