// SPDX-License-Identifier: Apache-2.0
// The index of a sharded model: which tensor lies in which file, and totals that are never trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/weights/tensors.hpp"

namespace assay::weights {

struct IndexEntry {
  std::string_view name;  // kept by the table given to read_index
  std::uint32_t shard = 0;
};

struct Index {
  std::vector<std::string> shards;  // each once, in order of first mention
  std::vector<IndexEntry> entries;
  std::optional<std::int64_t> total_bytes;  // metadata.total_size, as stated
  std::optional<std::int64_t> total_parameters;
};

inline constexpr std::size_t kMaxShards = 10'000;

// Reads the text of a *.index.json. A shard's name must be a plain file name: no folder, no "..", no absolute path.
// Errors: bad_input with the byte.
Result<Index> read_index(std::string_view text, std::string_view name, TensorTable& names);

}  // namespace assay::weights
