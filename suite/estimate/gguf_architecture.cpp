// SPDX-License-Identifier: Apache-2.0
// Architecture from GGUF metadata: values that are one number or a list with one for each layer (llama.cpp,
// llama-hparams).
#include <fmt/format.h>

#include "suite/estimate/architecture.hpp"
#include "suite/estimate/layer_kinds.hpp"
#include "suite/model/bytes.hpp"
#include "suite/model/config.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

// Metadata of one architecture; the first value of a wrong kind is the error.
class Keys {
 public:
  Keys(const weights::GgufHeader& header, const std::string& file, std::string arch)
      : header_(header), file_(file), arch_(std::move(arch)) {}

  Dim number(const std::string& key, std::int64_t least = 1) {
    const auto found = header_.values.find(arch_ + "." + key);
    if (found == header_.values.end() || found->second.array) return std::nullopt;
    const auto& value = found->second;
    if (value.integers.size() != 1 || value.integers.front() < least || value.integers.front() > kLargestDimension) {
      if (!error_)
        error_ = Error{ErrorCode::bad_input,
                       fmt::format("{}: the metadata {}.{} is {}: a whole number of at least {} is expected; download "
                                   "the file again",
                                   weights::shown(file_), weights::shown(arch_), key,
                                   value.integers.size() == 1 ? fmt::format("{}", value.integers.front())
                                                              : std::string("no whole number"),
                                   least)};
      return std::nullopt;
    }
    return value.integers.front();
  }
  // Of one layer: from a list, or the one number for all. Zero is allowed in a list: the layer has none.
  Dim of_layer(const std::string& key, std::int64_t layer) {
    const auto found = header_.values.find(arch_ + "." + key);
    if (found == header_.values.end()) return std::nullopt;
    if (!found->second.array) return number(key);
    const auto& list = found->second.integers;
    if (static_cast<std::size_t>(layer) >= list.size()) return std::nullopt;
    const auto value = list[static_cast<std::size_t>(layer)];
    return value >= 0 && value <= kLargestDimension ? Dim(value) : std::nullopt;
  }
  [[nodiscard]] bool has(const std::string& key) const { return header_.values.contains(arch_ + "." + key); }
  [[nodiscard]] bool is_list(const std::string& key) const {
    const auto found = header_.values.find(arch_ + "." + key);
    return found != header_.values.end() && found->second.array;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const weights::GgufHeader& header_;
  const std::string& file_;
  std::string arch_;
  std::optional<Error> error_;
};

// Every n-th layer is full where the architecture says nothing else (llama.cpp, set_swa_pattern); 0: all keep a window.
std::int64_t default_pattern(std::string_view arch) {
  if (arch == "gemma2" || arch == "gpt-oss") return 2;
  if (arch == "gemma3" || arch == "gemma3n") return 6;
  if (arch == "cohere2" || arch == "llama4" || arch == "exaone4") return 4;
  return 0;
}

bool keeps_window(Keys& keys, std::string_view arch, std::int64_t layer) {
  if (keys.is_list("attention.sliding_window_pattern"))
    return keys.of_layer("attention.sliding_window_pattern", layer).value_or(0) != 0;
  const auto every = keys.number("attention.sliding_window_pattern").value_or(default_pattern(arch));
  return every == 0 || layer % every < every - 1;
}

bool is_encoder(std::string_view arch) {
  return arch == "bert" || arch.ends_with("-bert") || arch == "modern-bert" || arch == "clip" || arch == "t5encoder";
}

}  // namespace

Result<Architecture> architecture_of(const weights::GgufHeader& header, const std::string& name) {
  Architecture a;
  const auto arch = header.text("general.architecture");
  a.type = arch;
  if (arch.empty()) {
    a.notes.push_back("the metadata has no general.architecture");
    return a;
  }
  Keys keys(header, name, arch);
  a.encoder = is_encoder(arch);
  a.layers_count = keys.number("block_count");
  if (a.layers_count.value_or(0) > model::kMaxLayers)
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: the metadata {}.block_count is {}: at most {} layers are accepted; download the file "
                             "again",
                             weights::shown(name), weights::shown(arch), *a.layers_count, model::kMaxLayers)};
  a.hidden = keys.number("embedding_length");
  a.width = keys.of_layer("feed_forward_length", 0);
  a.heads = keys.of_layer("attention.head_count", 0);
  a.vocabulary = keys.number("vocab_size");
  a.mtp_layers = keys.number("nextn_predict_layers", 0).value_or(0);
  if (const auto experts = keys.number("expert_count", 0); experts.value_or(0) > 0) {
    Mixture mixture;
    mixture.experts = experts;
    mixture.per_token = keys.number("expert_used_count");
    a.mixture = mixture;
  }
  const auto rank = keys.number("attention.kv_lora_rank");
  const auto rope = keys.number("rope.dimension_count", 0);
  if (rank) {
    Latent latent;
    latent.rank = rank;
    latent.query_rank = keys.number("attention.q_lora_rank");
    latent.rope_dim = rope;
    const auto key = keys.number("attention.key_length_mla");
    const auto expanded = key ? key : keys.number("attention.key_length");
    if (expanded && rope && *expanded > *rope) latent.nope_dim = *expanded - *rope;
    const auto value = keys.number("attention.value_length_mla");
    latent.value_dim = value ? value : keys.number("attention.value_length");
    a.latent = latent;
  }
  const auto window = keys.number("attention.sliding_window", 0).value_or(0);
  const auto interval = keys.number("full_attention_interval");
  const auto inner = keys.number("ssm.inner_size");
  const auto state = mamba_state(inner, keys.number("ssm.state_size"), keys.number("ssm.conv_kernel"),
                                 keys.number("ssm.group_count", 0).value_or(0));
  const auto own_layers = a.layers_count ? std::max<std::int64_t>(0, *a.layers_count - a.mtp_layers) : 0;
  for (std::int64_t i = 0; i < own_layers; ++i) {
    Layer layer;
    const auto heads = keys.of_layer("attention.head_count", i);
    layer.kv_heads = keys.has("attention.head_count_kv") ? keys.of_layer("attention.head_count_kv", i) : heads;
    layer.key_dim = keys.of_layer("attention.key_length", i);
    if (!layer.key_dim && a.hidden && heads.value_or(0) > 0) layer.key_dim = *a.hidden / *heads;
    layer.value_dim = keys.of_layer("attention.value_length", i);
    if (!layer.value_dim && a.hidden && heads.value_or(0) > 0) layer.value_dim = *a.hidden / *heads;
    layer.dense = !a.mixture;
    const bool recurrent = inner && ((interval && (i + 1) % *interval != 0) || (layer.kv_heads == 0) || !heads);
    if (a.encoder || (layer.kv_heads == 0 && !recurrent)) {
      layer.keeps = Keeps::nothing;
    } else if (recurrent) {
      layer.keeps = Keeps::state;
      layer.state_elements = state;
    } else if (a.latent) {
      layer.keeps = Keeps::latent;
      layer.kv_heads = 1;
      layer.key_dim = rope ? model::checked_add(*rank, *rope) : keys.number("attention.key_length");
      layer.value_dim = 0;
    } else if (window > 0 && keeps_window(keys, arch, i)) {
      layer.keeps = Keeps::window;
      layer.window = window;
      if (const auto dim = keys.number("attention.key_length_swa")) layer.key_dim = dim;
      if (const auto dim = keys.number("attention.value_length_swa")) layer.value_dim = dim;
    }
    layer.kind = "layer";
    a.layers.push_back(std::move(layer));
  }
  if (!a.layers.empty()) {
    a.kv_heads = a.layers.front().kv_heads;
    a.head_dim = a.layers.front().key_dim;
  }
  if (keys.error()) return *keys.error();
  return a;
}

}  // namespace assay::estimate
