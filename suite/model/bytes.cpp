// SPDX-License-Identifier: Apache-2.0
// The tensor list and the cache arithmetic, every product checked against the largest integer of a document.
#include "suite/model/bytes.hpp"

#include <algorithm>
#include <utility>

#include "suite/model/config.hpp"

namespace assay::model {
namespace {

Error too_large(std::string_view what) {
  return {ErrorCode::bad_input,
          std::string(what) + " exceeds 2^53 - 1 bytes, the largest integer a document can hold: check the dimensions"};
}

// Collects tensors and their totals; the first overflow is kept and ends up as the list's error.
class ListBuilder {
 public:
  explicit ListBuilder(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

  void add(std::string name, Role role, std::int64_t layer, std::vector<std::int64_t> shape) {
    std::optional<std::int64_t> elements = 1;
    for (const std::int64_t extent : shape) elements = elements ? checked_multiply(*elements, extent) : std::nullopt;
    const auto bytes = elements ? checked_multiply(*elements, element_bytes_) : std::nullopt;
    const auto total = bytes ? checked_add(list_.bytes, *bytes) : std::nullopt;
    if (!total) {
      overflowed_ = true;
      return;
    }
    list_.parameters += *elements;
    list_.bytes = *total;
    list_.tensors.push_back({std::move(name), role, layer, std::move(shape), *elements, *bytes});
  }

  [[nodiscard]] bool overflowed() const { return overflowed_; }
  Result<WeightList> finish() && {
    if (overflowed_) return too_large("the total of the weights");
    return std::move(list_);
  }

 private:
  std::int64_t element_bytes_;
  bool overflowed_ = false;
  WeightList list_;
};

void add_layer(ListBuilder& list, const DecoderConfig& config, std::int64_t layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t inner = config.intermediate_size;
  const std::int64_t q_width = config.query_heads * config.head_dim;
  const std::int64_t kv_width = config.kv_heads * config.head_dim;
  const auto add = [&](const char* name, Role role, std::vector<std::int64_t> shape) {
    list.add(prefix + name, role, layer, std::move(shape));
  };
  const bool bias = config.attention_bias;
  add("input_layernorm.weight", Role::input_norm, {hidden});
  add("self_attn.q_proj.weight", Role::query, {q_width, hidden});
  if (bias) add("self_attn.q_proj.bias", Role::query_bias, {q_width});
  add("self_attn.k_proj.weight", Role::key, {kv_width, hidden});
  if (bias) add("self_attn.k_proj.bias", Role::key_bias, {kv_width});
  add("self_attn.v_proj.weight", Role::value, {kv_width, hidden});
  if (bias) add("self_attn.v_proj.bias", Role::value_bias, {kv_width});
  add("self_attn.o_proj.weight", Role::attention_output, {hidden, q_width});
  if (bias && config.model_type == "llama") {
    add("self_attn.o_proj.bias", Role::attention_output_bias, {hidden});
  }
  add("post_attention_layernorm.weight", Role::post_attention_norm, {hidden});
  add("mlp.gate_proj.weight", Role::gate, {inner, hidden});
  add("mlp.up_proj.weight", Role::up, {inner, hidden});
  add("mlp.down_proj.weight", Role::down, {hidden, inner});
}

Error too_many_layers(std::int64_t layers) {
  return {ErrorCode::bad_input, "a network of " + std::to_string(layers) + " layers is refused: at most " +
                                    std::to_string(kMaxLayers) + " are; lower the number of layers"};
}

}  // namespace

Result<std::int64_t> dtype_bytes(std::string_view dtype) {
  if (dtype == "f32") return std::int64_t{4};
  if (dtype == "f16" || dtype == "bf16") return std::int64_t{2};
  return Error{ErrorCode::usage, "the dtype '" + std::string(dtype) + "' is not known: choose f32, f16 or bf16"};
}

std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &out) || out > kMaxInteger) return std::nullopt;
  return out;
}

std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &out) || out > kMaxInteger) return std::nullopt;
  return out;
}

Result<WeightList> weights_of(const DecoderConfig& config, std::string_view dtype) {
  const auto element_bytes = dtype_bytes(dtype);
  if (!element_bytes) return element_bytes.error();
  if (config.layers > kMaxLayers) return too_many_layers(config.layers);
  if (!checked_multiply(config.query_heads, config.head_dim) || !checked_multiply(config.kv_heads, config.head_dim)) {
    return too_large("the width of the attention heads");
  }
  ListBuilder list(*element_bytes);
  list.add("model.embed_tokens.weight", Role::embedding, -1, {config.vocabulary, config.hidden_size});
  for (std::int64_t layer = 0; layer < config.layers && !list.overflowed(); ++layer) add_layer(list, config, layer);
  list.add("model.norm.weight", Role::final_norm, -1, {config.hidden_size});
  if (!config.tied_embeddings) {
    list.add("lm_head.weight", Role::output_head, -1, {config.vocabulary, config.hidden_size});
  }
  return std::move(list).finish();
}

Result<WeightList> dense_weights_of(std::int64_t width, std::int64_t depth, std::string_view dtype) {
  const auto element_bytes = dtype_bytes(dtype);
  if (!element_bytes) return element_bytes.error();
  if (depth > kMaxLayers) return too_many_layers(depth);
  ListBuilder list(*element_bytes);
  for (std::int64_t layer = 0; layer < depth && !list.overflowed(); ++layer) {
    const std::string prefix = "layers." + std::to_string(layer);
    list.add(prefix + ".weight", Role::dense_weight, layer, {width, width});
    list.add(prefix + ".bias", Role::dense_bias, layer, {width});
  }
  return std::move(list).finish();
}

Result<std::int64_t> bytes_per_token(const DecoderConfig& config, std::string_view dtype) {
  const auto element_bytes = dtype_bytes(dtype);
  if (!element_bytes) return element_bytes.error();
  std::optional<std::int64_t> bytes = 2;
  for (const std::int64_t factor : {config.layers, config.kv_heads, config.head_dim, *element_bytes}) {
    bytes = bytes ? checked_multiply(*bytes, factor) : std::nullopt;
  }
  if (!bytes) return too_large("the cache of one token");
  return *bytes;
}

Result<std::int64_t> kv_slots(const DecoderConfig& config, KvKind kind, std::int64_t capacity) {
  if (kind != KvKind::sliding_window) return capacity;
  if (config.sliding_window <= 0) {
    return Error{ErrorCode::usage,
                 "a sliding-window cache was asked of a model without a window: choose the kind growing or static, or "
                 "a model whose config.json has sliding_window"};
  }
  return std::min(config.sliding_window, capacity);
}

Result<std::int64_t> kv_bytes(const DecoderConfig& config, KvKind kind, std::int64_t batch, std::int64_t capacity,
                              std::string_view dtype) {
  const auto per_token = bytes_per_token(config, dtype);
  if (!per_token) return per_token.error();
  const auto slots = kv_slots(config, kind, capacity);
  if (!slots) return slots.error();
  const auto tokens = checked_multiply(batch, *slots);
  const auto bytes = tokens ? checked_multiply(*tokens, *per_token) : std::nullopt;
  if (!bytes) return too_large("the key-value cache");
  return *bytes;
}

}  // namespace assay::model
