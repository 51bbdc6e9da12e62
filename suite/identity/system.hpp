// SPDX-License-Identifier: Apache-2.0
// What the program itself reads of the machine: kernel, distribution, container, limits, processors, boot and machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results-schema/types/identity.hpp"

namespace assay::identity {

// The registry's `program` fields that the system answers, tiers left to the registry. Files are looked up under
// `root`, so that tests can show it another machine. What cannot be read is unknown, with the reason.
// Machine id and boot id appear only as salted hashes.
[[nodiscard]] std::vector<IdentityField> read_system(const std::filesystem::path& root = "/");

// Fields in one line each.
[[nodiscard]] IdentityField value_field(std::string key, FieldValue value, std::string source);
[[nodiscard]] IdentityField unknown_field(std::string key, std::string reason);

}  // namespace assay::identity
