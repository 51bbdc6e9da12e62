// SPDX-License-Identifier: Apache-2.0
// The lists come first (layer_types and its relatives), then patterns and switches, then the family.
#include "suite/estimate/layer_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/model/bytes.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

using model::checked_add;
using model::checked_multiply;

Dim times(Dim a, Dim b) {
  return a && b ? checked_multiply(*a, *b) : std::nullopt;
}
Dim plus(Dim a, Dim b) {
  return a && b ? checked_add(*a, *b) : std::nullopt;
}

// The words of layer_types, layers_block_type and hybrid_override_pattern.
Keeps kind_of(std::string_view word) {
  for (const auto* full : {"full_attention", "attention", "global", "global_attention", "*"})
    if (word == full) return Keeps::all_tokens;
  for (const auto* window : {"sliding_attention", "local", "local_attention", "sliding_window", "chunked_attention"})
    if (word == window) return Keeps::window;
  for (const auto* state : {"linear_attention", "mamba", "mamba2", "recurrent", "conv", "M"})
    if (word == state) return Keeps::state;
  for (const auto* nothing : {"mlp", "moe", "-", "E"})
    if (word == nothing) return Keeps::nothing;
  return Keeps::unknown;
}

// One word a layer, or empty when the configuration has no such list.
std::vector<std::string> listed_kinds(ConfigFields& fields, Architecture& a) {
  std::vector<std::string> words;
  const char* name = "";
  const auto* list = fields.find({"layer_types", "layers_block_type", "layer_type_list", "layers_block_types"}, &name);
  const auto pattern = fields.text({"hybrid_override_pattern"});
  if (list != nullptr && list->is_array()) {
    for (const auto& item : *list) words.push_back(item.is_string() ? item.get<std::string>() : std::string("?"));
  } else if (!pattern.empty()) {
    for (const char c : pattern) words.emplace_back(1, c);
    name = "hybrid_override_pattern";
  } else if (list != nullptr) {
    a.contradictions.push_back(fmt::format("\"{}\" is not a list: the rule of the model_type is used instead", name));
  }
  if (words.empty()) return words;
  if (static_cast<std::int64_t>(words.size()) != *a.layers_count) {
    a.contradictions.push_back(
        fmt::format("\"{}\" lists {} layers and num_hidden_layers is {}: layers without a word "
                    "are taken as full attention",
                    name, words.size(), *a.layers_count));
    words.resize(static_cast<std::size_t>(*a.layers_count), "full_attention");
  }
  return words;
}

Dim state_of(ConfigFields& fields, const Architecture& a, std::string_view word) {
  if (word == "linear_attention") return gated_delta_state(a);
  if (word == "conv") {
    const auto kernel = fields.count({"conv_L_cache"});
    return kernel ? times(a.hidden, *kernel - 1) : std::nullopt;
  }
  const auto state = fields.count({"mamba_d_state", "ssm_state_size", "state_size", "d_state"});
  const auto kernel = fields.count({"mamba_d_conv", "conv_kernel", "d_conv", "conv_kernel_size"});
  const auto heads = fields.count({"mamba_n_heads", "mamba_num_heads"});
  const auto head_dim = fields.count({"mamba_d_head", "mamba_head_dim"});
  const bool second = heads.has_value() || a.type == "mamba2" || word == "mamba2";
  Dim inner = fields.count({"mamba_d_ssm", "mamba_intermediate_size"});
  if (!inner && heads && head_dim) inner = times(heads, head_dim);
  if (!inner) inner = times(a.hidden, fields.count({"mamba_expand", "expand"}).value_or(2));
  const auto groups = second ? Dim(fields.count({"mamba_n_groups", "n_groups"}).value_or(1)) : Dim(0);
  return mamba_state(inner, state, kernel, groups);
}

// Where no list says it: the pattern, the switch or the family.
std::vector<std::string> implied_kinds(ConfigFields& fields, const Architecture& a, bool has_window) {
  const auto n = *a.layers_count;
  std::vector<std::string> words(static_cast<std::size_t>(n), "full_attention");
  const auto set = [&](std::int64_t i, const char* word) { words[static_cast<std::size_t>(i)] = word; };
  const auto* family = a.family;
  const bool linear = (family != nullptr && family->linear_layers) || a.linear_value_heads.has_value();
  if (linear) {
    const auto interval = fields.count({"full_attention_interval"}).value_or(4);
    for (std::int64_t i = 0; i < n; ++i)
      if ((i + 1) % interval != 0) set(i, "linear_attention");
    return words;
  }
  if (a.type == "mamba" || a.type == "mamba2" || a.type == "falcon_mamba") {
    for (auto& word : words) word = "mamba";
    return words;
  }
  if (const auto period = fields.count({"attn_layer_period"})) {
    const auto offset = fields.whole({"attn_layer_offset"}).value_or(0);
    for (std::int64_t i = 0; i < n; ++i)
      if (i % *period != offset % *period) set(i, "mamba");
    return words;
  }
  if (const auto attention = fields.list({"attn_layer_indices", "full_attn_idxs"})) {
    for (auto& word : words) word = a.type == "lfm2" ? "conv" : "mamba";
    for (const auto i : *attention)
      if (i < n) set(i, "full_attention");
    return words;
  }
  if (!has_window) return words;
  const auto windows = family != nullptr ? family->windows : Windows::all_when_set;
  const auto pattern = fields.count({"sliding_window_pattern", "_sliding_window_pattern"});
  std::int64_t first = 0;
  if (windows == Windows::by_switch) first = fields.whole({"max_window_layers"}).value_or(28);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto every = pattern ? *pattern : family != nullptr ? family->pattern : 0;
    const bool window = pattern || windows == Windows::by_pattern ? every == 0 || (i + 1) % every != 0
                        : windows == Windows::even_layers         ? i % 2 == 0
                                                                  : i >= first;
    if (window) set(i, "sliding_attention");
  }
  return words;
}

// Tokens of the window, 0 for none.
std::int64_t window_of(ConfigFields& fields, const Architecture& a) {
  if (!fields.flag({"use_sliding_window"}).value_or(a.family == nullptr || a.family->windows != Windows::by_switch))
    return 0;
  const auto* stated = fields.find({"sliding_window", "attention_chunk_size", "sliding_window_size"});
  if (stated != nullptr && stated->is_number())
    return fields.whole({"sliding_window", "attention_chunk_size", "sliding_window_size"}).value_or(0);
  const bool null = fields.outer().contains("sliding_window");
  return a.family != nullptr && !null ? a.family->default_window : 0;
}

}  // namespace

Dim gated_delta_state(const Architecture& a) {
  const auto keys = times(a.linear_key_heads, a.linear_key_dim);
  const auto values = times(a.linear_value_heads, a.linear_value_dim);
  const auto matrix = times(times(a.linear_value_heads, a.linear_key_dim), a.linear_value_dim);
  const auto channels = plus(times(keys, 2), values);
  const auto past = a.linear_kernel ? times(channels, *a.linear_kernel - 1) : std::nullopt;
  return plus(matrix, past);
}

Dim mamba_state(Dim inner, Dim state, Dim kernel, Dim groups) {
  const auto channels = plus(inner, times(times(groups, 2), state));
  return plus(times(inner, state), kernel ? times(channels, *kernel - 1) : std::nullopt);
}

void assign_layers(ConfigFields& fields, Architecture& a) {
  if (!a.layers_count || fields.error()) return;
  const auto window = window_of(fields, a);
  auto words = listed_kinds(fields, a);
  if (words.empty()) words = implied_kinds(fields, a, window > 0);
  const auto per_layer = fields.list({"num_key_value_heads", "num_kv_heads", "num_key_value_heads_per_layer"});
  const auto dense_first = fields.whole({"first_k_dense_replace"}).value_or(0);
  const auto every = fields.count({"moe_layer_freq", "decoder_sparse_step", "expert_layer_period"}).value_or(1);
  const auto dense_only = fields.list({"mlp_only_layers"}).value_or(std::vector<std::int64_t>{});
  const auto shared = fields.whole({"num_kv_shared_layers"}).value_or(0);
  const bool both = a.type == "falcon_h1";
  for (std::int64_t i = 0; i < *a.layers_count; ++i) {
    Layer layer;
    layer.kind = words[static_cast<std::size_t>(i)];
    layer.keeps = a.encoder ? Keeps::nothing : kind_of(layer.kind);
    layer.kv_heads = a.kv_heads;
    if (per_layer && static_cast<std::size_t>(i) < per_layer->size())
      layer.kv_heads = (*per_layer)[static_cast<std::size_t>(i)];
    layer.key_dim = layer.value_dim = a.head_dim;
    if (layer.keeps == Keeps::window) layer.window = window;
    if (layer.keeps == Keeps::window && window == 0) layer.keeps = Keeps::all_tokens;
    if (a.latent && layer.keeps == Keeps::all_tokens) {
      layer.keeps = Keeps::latent;
      layer.kv_heads = 1;
      layer.key_dim = plus(a.latent->rank, a.latent->rope_dim);
      layer.value_dim = 0;
    }
    if (layer.keeps == Keeps::state || both) layer.state_elements = state_of(fields, a, both ? "mamba2" : layer.kind);
    if (layer.keeps != Keeps::state && shared > 0 && i >= *a.layers_count - shared) layer.keeps = Keeps::nothing;
    const bool qwen = a.family != nullptr && a.family->experts == Experts::qwen;
    layer.dense = !a.mixture || i < dense_first || (qwen ? (i + 1) % every != 0 : i % every != 0) ||
                  std::find(dense_only.begin(), dense_only.end(), i) != dense_only.end();
    a.layers.push_back(std::move(layer));
  }
  if (shared > 0)
    a.notes.push_back(fmt::format("the last {} layers use the cache of earlier ones (num_kv_shared_layers)", shared));
}

}  // namespace assay::estimate
