// SPDX-License-Identifier: Apache-2.0
// Checks of a decoder's dimensions, whoever gave them.
#include "suite/model/config.hpp"

#include <cmath>
#include <string>

#include "suite/model/bytes.hpp"

namespace assay::model {
namespace {

Error refuse(std::string_view name, std::string_view field, const std::string& value, const std::string& reason) {
  return {ErrorCode::bad_input, std::string(name) + ": \"" + std::string(field) + "\" is " + value + ": " + reason};
}

Result<void> check_count(std::string_view name, std::string_view field, std::int64_t value) {
  const std::string fix = "; correct the field or choose another model";
  if (value <= 0) return refuse(name, field, std::to_string(value), "a decoder needs at least 1" + fix);
  if (value > kMaxInteger) {
    return refuse(name, field, std::to_string(value), "the largest number that is accepted is 2^53 - 1" + fix);
  }
  return {};
}

Result<void> check_heads(const DecoderConfig& config, std::string_view name) {
  if (config.query_heads % config.kv_heads != 0) {
    return refuse(name, "num_key_value_heads", std::to_string(config.kv_heads),
                  "it does not divide num_attention_heads (" + std::to_string(config.query_heads) +
                      "), so query heads cannot be grouped; correct one of the two");
  }
  if (config.head_dim % 2 != 0) {
    return refuse(name, "head_dim", std::to_string(config.head_dim),
                  "rotary position embedding turns pairs of elements and needs an even number; correct head_dim, or "
                  "hidden_size and num_attention_heads");
  }
  return {};
}

}  // namespace

Result<void> check_dimensions(const DecoderConfig& config, std::string_view name) {
  const std::pair<std::string_view, std::int64_t> counts[] = {
      {"hidden_size", config.hidden_size},      {"intermediate_size", config.intermediate_size},
      {"num_hidden_layers", config.layers},     {"num_attention_heads", config.query_heads},
      {"num_key_value_heads", config.kv_heads}, {"head_dim", config.head_dim},
      {"vocab_size", config.vocabulary},        {"max_position_embeddings", config.max_positions}};
  for (const auto& [field, value] : counts) {
    if (auto checked = check_count(name, field, value); !checked) return checked;
  }
  if (config.sliding_window < 0 || config.sliding_window > kMaxInteger) {
    return refuse(name, "sliding_window", std::to_string(config.sliding_window),
                  "a window is a positive number of tokens; correct the field or remove it");
  }
  if (config.layers > kMaxLayers) {
    return refuse(name, "num_hidden_layers", std::to_string(config.layers),
                  "at most " + std::to_string(kMaxLayers) + " layers are accepted; correct the field");
  }
  if (config.vocabulary > INT32_MAX) {
    return refuse(name, "vocab_size", std::to_string(config.vocabulary),
                  "token numbers are 32-bit integers; correct the field");
  }
  if (auto checked = check_heads(config, name); !checked) return checked;
  if (!std::isfinite(config.rope_theta) || config.rope_theta <= 0) {
    return refuse(name, "rope_theta", std::to_string(config.rope_theta), "it must be positive; correct the field");
  }
  if (!std::isfinite(config.norm_epsilon) || config.norm_epsilon < 0) {
    return refuse(name, "rms_norm_eps", std::to_string(config.norm_epsilon),
                  "it must not be negative; correct the field");
  }
  const auto weights = weights_of(config, "f32");
  if (!weights) return Error{ErrorCode::bad_input, std::string(name) + ": " + weights.error().text};
  const auto per_token = bytes_per_token(config, "f32");
  if (!per_token) return Error{ErrorCode::bad_input, std::string(name) + ": " + per_token.error().text};
  return {};
}

Result<DecoderConfig> from_dimensions(DecoderConfig given, std::string_view name) {
  if (given.kv_heads == 0) given.kv_heads = given.query_heads;
  if (given.max_positions == 0) given.max_positions = kMaxInteger;
  if (given.model_type.empty()) given.model_type = "llama";
  if (given.head_dim == 0 && given.query_heads > 0) {
    if (given.hidden_size % given.query_heads != 0) {
      return refuse(name, "hidden_size", std::to_string(given.hidden_size),
                    "it is not divisible by num_attention_heads (" + std::to_string(given.query_heads) +
                        ") and no head_dim is given; correct one of them or add head_dim");
    }
    given.head_dim = given.hidden_size / given.query_heads;
  }
  if (auto checked = check_dimensions(given, name); !checked) return checked.error();
  return given;
}

}  // namespace assay::model
