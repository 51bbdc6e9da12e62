// SPDX-License-Identifier: Apache-2.0
// recount: the current values of an allocator's statistics, added up from its snapshot; no test framework needed.
#pragma once

#include <string>
#include <vector>

#include "backends/allocator/allocator.hpp"

namespace assay::testing {

// The first law broken: blocks that do not tile their segment, two free neighbours, segments that overlap, or a
// statistic that is not what the blocks add up to. Empty when all hold.
[[nodiscard]] std::string recount(const std::vector<allocator::SegmentInfo>& segments,
                                  const allocator::Statistics& statistics);

}  // namespace assay::testing
