// SPDX-License-Identifier: Apache-2.0
// Models by name: one of those shipped beside the program, a folder, or a config.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/model/config.hpp"

namespace assay::planning {

// The folder of shipped configurations: ../share/assay/models from the program, in the build tree as when installed.
Result<std::filesystem::path> models_folder();

// Names of the shipped models, sorted; empty when the folder is missing.
std::vector<std::string> shipped_models();

// A name is first looked for among the shipped models, then as a path. Errors: usage for a word that is neither,
// listing what is shipped; bad_input when the configuration is missing or malformed.
Result<model::Model> find_model(const std::string& name);

}  // namespace assay::planning
