// SPDX-License-Identifier: Apache-2.0
// PyTorch memory snapshots, as JSON or as the pickle itself.
#pragma once

#include <memory>

#include "suite/trace/input.hpp"
#include "suite/trace/trace.hpp"

namespace assay::trace {

// Errors: bad_input naming file and place, e.g. "device_traces[0][17]".
Result<std::unique_ptr<Source>> open_snapshot(Input input, Format format);

}  // namespace assay::trace
