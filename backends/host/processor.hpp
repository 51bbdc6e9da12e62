// SPDX-License-Identifier: Apache-2.0
// What the processor says of itself.
#pragma once

#include <string>

namespace assay::host {

// "vendor-family-model-stepping" from cpuid, e.g. "AuthenticAMD-25-17-1", family and model with their extended parts;
// empty on architectures without cpuid.
[[nodiscard]] std::string processor_signature();

// The brand string, without the padding around it; empty when there is none.
[[nodiscard]] std::string processor_name();

// The microcode's revision as the kernel shows it; empty when it does not.
[[nodiscard]] std::string microcode();

}  // namespace assay::host
