// SPDX-License-Identifier: Apache-2.0
// An estimate as a document's body: every figure under its dotted name.
#pragma once

#include "results-schema/types/estimate.hpp"
#include "suite/estimate/model_estimate.hpp"

namespace assay::estimate {

EstimateBody to_body(const ModelEstimate& estimate);

}  // namespace assay::estimate
