// SPDX-License-Identifier: Apache-2.0
// findings_of: the reasons to refuse or to mark a run that an assembled identity shows by itself.
#pragma once

#include <vector>

#include "results-schema/types/identity.hpp"

namespace assay::identity {

// On the host a load average above this share of its processors (thousandths a processor) marks the run: half of them
// busy leaves no room for a measurement that uses all. Our choice, not a measured border.
inline constexpr std::int64_t kBusyThousandthsPerProcessor = 500;

// Refusing: a vendor that is not the platform's, an architecture of another platform or altered by an override, an
// emulator under a GPU's name, a debug or tool variable. Marking: toolkits of two majors, JIT code, throttling, other
// processes, other load. Pure.
[[nodiscard]] std::vector<ValidityFinding> findings_of(const Identity& identity);

}  // namespace assay::identity
