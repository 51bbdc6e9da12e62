// SPDX-License-Identifier: Apache-2.0
// The statistics of a document as torch.cuda.memory_summary shows them: the same rows under the same names.
#pragma once

#include <string>

#include "results-schema/types/document.hpp"

namespace assay::report {

// One table a device and workload, of its first whole launch, or of the first where none is whole. Current values are
// those at the end of its last phase with counters, peaks the highest of its phases (the protocol resets them between),
// the totals those since the allocator began. The largest free block stands below each table.
[[nodiscard]] std::string memory_summary(const RunDocument& document);

}  // namespace assay::report
