// SPDX-License-Identifier: Apache-2.0
// identify: the whole identity of a chosen device: what its module says, in a child process, and what the program
// reads.
#pragma once

#include <string>

#include "results-schema/types/identity.hpp"
#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/modules/probe.hpp"

namespace assay::modules {

// What the program knows of itself and of its plan. Empty texts are unknown.
struct ProgramFacts {
  std::string suite_version;
  std::string suite_commit;
  bool suite_dirty = false;
  std::string allocator_policy;  // empty: no plan was made
  std::string allocator_options;
};

// Errors: those of the module or of opening the device (no_device, bad_input, out_of_memory, interrupted...).
[[nodiscard]] Result<Identity> identify(const PlannedDevice& device, const ProgramFacts& facts, const Prober& prober);

// Without a device: what stands on a probe, with the hashes of the module's and its runtime's files. Pure but for
// reading files and the system.
[[nodiscard]] Identity identity_of(const ModuleProbe& probe, const std::vector<IdentityField>& device_fields,
                                   const ProgramFacts& facts);

}  // namespace assay::modules
