// SPDX-License-Identifier: Apache-2.0
// Architecture: what a model computes and caches, layer by layer, from a config.json or a GGUF header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/estimate/family.hpp"
#include "suite/weights/model_files.hpp"

namespace assay::estimate {

using Dim = std::optional<std::int64_t>;  // nothing: not known

// How a layer keeps what it has seen.
enum class Keeps : std::uint8_t { all_tokens, window, latent, state, nothing, unknown };

struct Layer {
  Keeps keeps = Keeps::all_tokens;
  Dim kv_heads;
  Dim key_dim;    // of one head; latent: of the latent row, which serves as key and value
  Dim value_dim;  // of one head; 0 in latent layers
  std::int64_t window = 0;
  Dim state_elements;  // of one sequence, whatever its length; beside attention where a layer has both
  bool dense = true;   // false: a mixture of experts
  std::string kind;    // the config's own word, for messages
};

// Multi-head latent attention.
struct Latent {
  Dim query_rank;  // nothing: the query is not compressed
  Dim rank;
  Dim rope_dim;
  Dim nope_dim;
  Dim value_dim;
};

struct Mixture {
  Dim experts;
  Dim per_token;
  Dim width;         // of one expert
  Dim shared_width;  // of all shared experts together, or nothing
  bool shared_gate = false;
  bool correction_bias = false;
};

struct Architecture {
  std::string type;  // model_type, or GGUF's general.architecture
  const Family* family = nullptr;
  Dim layers_count;
  Dim hidden;
  Dim width;  // of the feed-forward
  Dim heads;
  Dim kv_heads;
  Dim head_dim;
  Dim vocabulary;
  Dim positions;  // of a learned table
  bool attention_bias = false;
  bool feed_forward_bias = false;
  std::int64_t norms = 2;
  bool qk_norm = false;
  std::optional<bool> tied;
  std::string tied_source;
  std::string dtype;  // "BF16", "F16", "F32", or empty
  std::optional<Latent> latent;
  std::optional<Mixture> mixture;
  // Gated delta networks (linear attention).
  Dim linear_key_heads, linear_value_heads, linear_key_dim, linear_value_dim, linear_kernel;
  std::int64_t mtp_layers = 0;
  std::vector<Layer> layers;  // empty when their number is not known
  bool encoder = false;
  std::vector<std::string> notes;
  std::vector<std::string> contradictions;
};

// From the JSON configuration. Errors: bad_input naming the field.
Result<Architecture> architecture_of(const weights::ConfigFile& config);

// From a GGUF header's metadata. Errors: bad_input naming the key.
Result<Architecture> architecture_of(const weights::GgufHeader& header, const std::string& name);

}  // namespace assay::estimate
