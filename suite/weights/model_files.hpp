// SPDX-License-Identifier: Apache-2.0
// A model as it lies on disk: its configuration, its weight files' headers, and where these contradict each other.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/weights/config_text.hpp"
#include "suite/weights/gguf.hpp"
#include "suite/weights/index.hpp"
#include "suite/weights/safetensors.hpp"
#include "suite/weights/tensors.hpp"

namespace assay::weights {

enum class FileFormat { none, safetensors, gguf };

struct WeightFile {
  std::string name;  // within its folder
  FileFacts facts;
};

// One JSON file of a configuration.
struct ConfigFile {
  std::string name;
  std::string sha256;
  std::shared_ptr<const nlohmann::ordered_json> tree;
  std::vector<UnknownField> unknown;
};

struct ModelFiles {
  std::string name;  // of the folder, or of the file
  FileFormat format = FileFormat::none;
  std::vector<WeightFile> files;
  TensorTable tensors;
  std::vector<GgufHeader> gguf;        // one a GGUF file, in the order of `files`
  std::optional<ConfigFile> config;    // config.json, or Mistral's params.json
  std::optional<ConfigFile> quantize;  // quantize_config.json or hf_quant_config.json
  std::optional<std::string> index_name;
  std::optional<std::int64_t> index_total_bytes;
  std::optional<std::int64_t> index_total_parameters;
  std::vector<std::string> contradictions;  // sentences: what two sources say differently
  std::vector<std::string> notes;           // sentences: what was left out, and why
};

struct ReadOptions {
  // Weight files may be cut off anywhere after their header: parts that were fetched by range.
  bool headers_only = false;
};

// Reads one folder, one file (weights, an index, a configuration) or several weight files of one model.
// A folder holds one model: one set of safetensors or one set of GGUF files. Files named by an index must lie in the
// index's folder; symbolic links may not leave it, except into the blobs folder of a hub cache's snapshot.
// Errors: bad_input in one sentence.
Result<ModelFiles> read_model(const std::vector<std::filesystem::path>& paths, const ReadOptions& options);

}  // namespace assay::weights
