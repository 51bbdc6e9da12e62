// SPDX-License-Identifier: Apache-2.0
// Bytes of a decoder: its exact list of weight tensors and its key-value cache. Estimate and run use these functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"

namespace assay::model {

// What a weight tensor is for.
enum class Role : std::uint8_t {
  embedding,
  input_norm,
  query,
  query_bias,
  key,
  key_bias,
  value,
  value_bias,
  attention_output,
  attention_output_bias,
  post_attention_norm,
  gate,
  up,
  down,
  final_norm,
  output_head,
  dense_weight,
  dense_bias,
};

struct Tensor {
  std::string name;  // as transformers names it, "model.layers.0.self_attn.q_proj.weight"
  Role role = Role::embedding;
  std::int64_t layer = -1;  // -1: belongs to no layer
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

struct WeightList {
  std::vector<Tensor> tensors;  // in the order they are loaded
  std::int64_t parameters = 0;  // elements of all tensors
  std::int64_t bytes = 0;
};

// Bytes of one element of a storage dtype: f32 4, f16 2, bf16 2. Errors: usage for any other name.
Result<std::int64_t> dtype_bytes(std::string_view dtype);

// Product and sum of non-negative numbers, or no value when the result exceeds 2^53 - 1.
std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b);

// Every tensor a loader keeps resident, a tied output head counted once. The attention output has a bias in the llama
// family only (transformers: LlamaAttention against Qwen2Attention). Errors: usage (dtype), bad_input (overflow).
Result<WeightList> weights_of(const DecoderConfig& config, std::string_view dtype);

// The dense network: `depth` layers of weight [width, width] and bias [width]. Errors as above.
Result<WeightList> dense_weights_of(std::int64_t width, std::int64_t depth, std::string_view dtype);

// Bytes one token of one sequence adds to a cache that keeps every token: 2 (key and value) x layers x kv_heads x
// head_dim x bytes of the dtype. Errors: usage (dtype), bad_input (overflow).
Result<std::int64_t> bytes_per_token(const DecoderConfig& config, std::string_view dtype);

// Slots a sequence holds when it may reach `capacity` tokens: `capacity`, or at most the window in a ring.
// Errors: usage when the ring is asked of a model without a window.
Result<std::int64_t> kv_slots(const DecoderConfig& config, KvKind kind, std::int64_t capacity);

// Bytes of the whole cache: batch x slots x bytes_per_token. For a growing cache this is its size once it holds
// `capacity` tokens, without the copy that is alive while it grows. Errors: usage, bad_input (overflow).
Result<std::int64_t> kv_bytes(const DecoderConfig& config, KvKind kind, std::int64_t batch, std::int64_t capacity,
                              std::string_view dtype);

}  // namespace assay::model
