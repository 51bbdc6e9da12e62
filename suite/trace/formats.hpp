// SPDX-License-Identifier: Apache-2.0
// The openers of the single formats; suite/trace/trace.hpp's open() chooses between them.
#pragma once

#include <memory>

#include "suite/trace/input.hpp"
#include "suite/trace/trace.hpp"

namespace assay::trace {

// Memory events of a Kineto profile as CSV with a header line; columns t_us, device_type (1 CUDA, 6 HIP), device_id,
// addr, bytes (negative: a free), total_allocated, total_reserved, in any order. A window: what was live before is
// unknown.
Result<std::unique_ptr<Source>> open_kineto_csv(Input input);

// The same events inside a Kineto profile itself (Chrome trace JSON, events named "[memory]").
Result<std::unique_ptr<Source>> open_kineto_json(Input input);

// RMM's logging_resource_adaptor: Thread,Time,Action,Pointer,Size,Stream. Starts empty.
Result<std::unique_ptr<Source>> open_rmm_csv(Input input);

// Umpire's replay log, one JSON object a line. Starts empty. Streams are not known to Umpire.
Result<std::unique_ptr<Source>> open_umpire(Input input);

// Our own format: "#assay-trace 1", "#key=value" lines, then action,device,stream,address,bytes,time_us and, if known,
// category. Starts empty.
Result<std::unique_ptr<Source>> open_assay(Input input);

}  // namespace assay::trace
