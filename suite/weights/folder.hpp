// SPDX-License-Identifier: Apache-2.0
// What lies in a model's folder, and which of it makes up the model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::weights {

// Splits "model-00002-of-00005.safetensors": also six digits and "_" between the parts. Nothing for other names.
struct ShardName {
  std::string stem;
  std::string extension;
  std::int64_t number = 0;
  std::int64_t count = 0;
};
std::optional<ShardName> shard_name(const std::string& file);

struct FolderContents {
  std::optional<std::filesystem::path> index;
  std::vector<std::filesystem::path> weights;  // of the one model, without the files of an index
  bool gguf = false;
  std::vector<std::string> notes;
};

// Errors: bad_input when the folder cannot be read, holds two models, or a set of shards with a hole.
Result<FolderContents> look_into(const std::filesystem::path& folder);

// Whether `file` (in `folder`, possibly a symbolic link) stays in the folder. Errors: bad_input.
Result<void> stays_inside(const std::filesystem::path& folder, const std::filesystem::path& file);

}  // namespace assay::weights
