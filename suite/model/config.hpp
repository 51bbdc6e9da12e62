// SPDX-License-Identifier: Apache-2.0
// Model configurations: a decoder's dimensions from a transformers config.json, or from numbers given by a person.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"

namespace assay::model {

// The largest integer a document can hold exactly, 2^53 - 1: no dimension and no total may exceed it.
inline constexpr std::int64_t kMaxInteger = (std::int64_t{1} << 53) - 1;

// More layers than any decoder has; bounds the length of the tensor list, which grows with them.
inline constexpr std::int64_t kMaxLayers = 1 << 16;

struct Model {
  DecoderConfig config;
  ModelSource source;
  std::string dtype = {};  // the file's torch_dtype as a storage type; empty when it names none that is executed
};

// Reads `path`, a config.json or a folder that holds one. The source carries the path as given, the folder's name and
// the SHA-256 of the file's bytes. Errors: bad_input in one sentence that names file, field, value and reason.
Result<Model> load_model(const std::filesystem::path& path);

// The dimensions in the text of a config.json; `name` is what messages call it. Dense decoders of the llama, mistral
// and qwen2 families are read; absent optional fields take the defaults of their transformers configuration class.
// rope_scaling moves numbers but no bytes, and synthetic weights have no trained range: it is not read.
// Errors: bad_input.
Result<DecoderConfig> parse_config(std::string_view text, std::string_view name);

// The storage type of a config.json's torch_dtype (or dtype, its newer name): "f32", "f16", "bf16", or empty for none
// and for one that is not executed. Errors: bad_input.
Result<std::string> parse_dtype(std::string_view text, std::string_view name);

// Completes dimensions given by a person (kv_heads 0: query_heads; head_dim 0: hidden_size / query_heads; max_positions
// 0: unlimited up to 2^53 - 1) and checks them. Errors: bad_input.
Result<DecoderConfig> from_dimensions(DecoderConfig given, std::string_view name);

// Whether every count is in its range, heads divide, head_dim is even, and the weights in 4-byte elements stay within
// 2^53 - 1 bytes. Errors: bad_input naming the field by its config.json name.
Result<void> check_dimensions(const DecoderConfig& config, std::string_view name);

}  // namespace assay::model
