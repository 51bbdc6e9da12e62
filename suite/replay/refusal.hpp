// SPDX-License-Identifier: Apache-2.0
// account_for: why a request was refused on a simulated device, with the bytes of each part.
#pragma once

#include "suite/replay/policy_replay.hpp"

namespace assay::replay {

// Fills the cause and the sentence of a refusal that has just happened, from the allocator as it is now (the rule:
// backends/allocator/account.hpp). `stream` is the replay's own for the request. A simulated device has no other
// process.
void account_for(const PolicyReplay& replay, const assay_stream* stream, Refusal& refusal);

}  // namespace assay::replay
