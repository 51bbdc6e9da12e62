// SPDX-License-Identifier: Apache-2.0
// Layer by layer: norms, attention of its kind, feed-forward or experts.
#include "suite/estimate/tensor_list.hpp"

#include <fmt/format.h>

namespace assay::estimate {
namespace {

class Builder {
 public:
  explicit Builder(const Architecture& a) : a_(a), family_(a.family) {}

  ExpectedTensors build() {
    if (family_ == nullptr || family_->weights_unlisted) {
      out_.missing = family_ == nullptr ? (a_.type.empty() ? std::string("the configuration names no model_type")
                                                           : "the model_type \"" + a_.type + "\" is not known")
                                        : "the tensors of \"" + a_.type + "\" are not listed here";
      out_.missing += ": give the weight files, or their headers";
      return std::move(out_);
    }
    hidden_ = need(a_.hidden, "hidden_size");
    const auto vocabulary = need(a_.vocabulary, "vocab_size");
    if (!a_.layers_count) need(a_.layers_count, "num_hidden_layers");
    const bool all_experts = a_.mixture && a_.mixture->width && [this] {
      for (const auto& layer : a_.layers)
        if (layer.dense) return false;
      return true;
    }();
    if (!all_experts) width_ = need(a_.width, "intermediate_size");
    heads_ = need(a_.heads, "num_attention_heads");
    if (!a_.latent) head_dim_ = need(a_.head_dim, "head_dim");
    if (!out_.missing.empty()) return std::move(out_);

    matrix("model.embed_tokens.weight", Group::embedding, vocabulary, hidden_, false);
    if (family_->positions)
      matrix("model.embed_positions.weight", Group::embedding, need(a_.positions, "n_positions"), hidden_, false);
    for (std::size_t i = 0; i < a_.layers.size() && out_.missing.empty(); ++i)
      layer(static_cast<std::int64_t>(i), a_.layers[i]);
    layer_ = -1;
    prefix_ = "model.";
    norm("norm", hidden_);
    if (!a_.tied.value_or(true)) {
      matrix("lm_head.weight", Group::output_head, vocabulary, hidden_, true);
      if (family_->head_bias) vector("lm_head.bias", Group::output_head, vocabulary);
    }
    if (a_.mtp_layers > 0 && family_->experts == Experts::deepseek) prediction(vocabulary);
    return std::move(out_);
  }

 private:
  std::int64_t need(Dim dim, const char* name) {
    if (!dim && out_.missing.empty()) out_.missing = fmt::format("{} is not known", name);
    return dim.value_or(0);
  }
  void matrix(const std::string& name, Group group, std::int64_t rows, std::int64_t columns, bool linear,
              std::int64_t copies = 1, std::int64_t active = 1) {
    if (rows <= 0 || columns <= 0 || copies <= 0) return;
    target_->push_back({name, group, layer_, rows, columns, copies, active, linear});
  }
  void vector(const std::string& name, Group group, std::int64_t rows, std::int64_t copies = 1) {
    matrix(name, group, rows, 1, false, copies);
  }
  void norm(const char* name, std::int64_t width) {
    if (family_->norm_weight) vector(prefix_ + name + ".weight", Group::norms, width);
    if (family_->norm_bias) vector(prefix_ + name + ".bias", Group::norms, width);
  }
  [[nodiscard]] bool has(Bias bias, bool configured) const {
    return bias == Bias::always || (bias == Bias::by_config && configured);
  }
  void linear(const std::string& name, Group group, std::int64_t rows, std::int64_t columns, bool bias,
              std::int64_t copies = 1, std::int64_t active = 1) {
    matrix(prefix_ + name + ".weight", group, rows, columns, true, copies, active);
    if (bias) vector(prefix_ + name + ".bias", group, rows, copies);
  }

  void layer(std::int64_t index, const Layer& layer) {
    layer_ = index;
    prefix_ = fmt::format("model.layers.{}.", index);
    for (std::int64_t i = 0; i < a_.norms; ++i) norm(fmt::format("norm_{}", i + 1).c_str(), hidden_);
    if (layer.keeps == Keeps::latent)
      latent_attention();
    else if (layer.keeps == Keeps::state)
      gated_delta();
    else
      attention(layer);
    feed_forward(layer);
  }

  void attention(const Layer& layer) {
    const auto kv = need(layer.kv_heads, "num_key_value_heads") * head_dim_;
    const auto q = heads_ * head_dim_;
    const bool bias = has(family_->qkv_bias, a_.attention_bias);
    if (family_->fused_qkv) {
      linear("self_attn.qkv_proj", Group::attention, q + 2 * kv, hidden_, bias);
    } else {
      linear("self_attn.q_proj", Group::attention, family_->gated_query ? 2 * q : q, hidden_, bias);
      linear("self_attn.k_proj", Group::attention, kv, hidden_, bias);
      linear("self_attn.v_proj", Group::attention, kv, hidden_, bias);
    }
    linear("self_attn.o_proj", Group::attention, hidden_, q, has(family_->output_bias, a_.attention_bias));
    if (family_->sinks) vector(prefix_ + "self_attn.sinks", Group::attention, heads_);
    if (a_.qk_norm) {
      const bool full = family_->qk_norm == QkNorm::full;
      vector(prefix_ + "self_attn.q_norm.weight", Group::norms, full ? q : head_dim_);
      vector(prefix_ + "self_attn.k_norm.weight", Group::norms, full ? kv : head_dim_);
    }
  }

  void latent_attention() {
    const auto& latent = *a_.latent;
    const auto rope = need(latent.rope_dim, "qk_rope_head_dim");
    const auto nope = need(latent.nope_dim, "qk_nope_head_dim");
    const auto value = need(latent.value_dim, "v_head_dim");
    const auto rank = need(latent.rank, "kv_lora_rank");
    const auto query = heads_ * (rope + nope);
    if (latent.query_rank) {
      linear("self_attn.q_a_proj", Group::attention, *latent.query_rank, hidden_, a_.attention_bias);
      vector(prefix_ + "self_attn.q_a_layernorm.weight", Group::norms, *latent.query_rank);
      linear("self_attn.q_b_proj", Group::attention, query, *latent.query_rank, false);
    } else {
      linear("self_attn.q_proj", Group::attention, query, hidden_, false);
    }
    linear("self_attn.kv_a_proj_with_mqa", Group::attention, rank + rope, hidden_, a_.attention_bias);
    vector(prefix_ + "self_attn.kv_a_layernorm.weight", Group::norms, rank);
    linear("self_attn.kv_b_proj", Group::attention, heads_ * (nope + value), rank, false);
    linear("self_attn.o_proj", Group::attention, hidden_, heads_ * value, a_.attention_bias);
  }

  // transformers, Qwen3NextGatedDeltaNet.
  void gated_delta() {
    const auto heads = need(a_.linear_value_heads, "linear_num_value_heads");
    const auto keys =
        need(a_.linear_key_heads, "linear_num_key_heads") * need(a_.linear_key_dim, "linear_key_head_dim");
    const auto value_dim = need(a_.linear_value_dim, "linear_value_head_dim");
    const auto values = heads * value_dim;
    const auto kernel = need(a_.linear_kernel, "linear_conv_kernel_dim");
    linear("linear_attn.in_proj_qkvz", Group::recurrent, 2 * keys + 2 * values, hidden_, false);
    linear("linear_attn.in_proj_ba", Group::recurrent, 2 * heads, hidden_, false);
    matrix(prefix_ + "linear_attn.conv1d.weight", Group::recurrent, 2 * keys + values, kernel, false);
    vector(prefix_ + "linear_attn.dt_bias", Group::recurrent, heads);
    vector(prefix_ + "linear_attn.A_log", Group::recurrent, heads);
    vector(prefix_ + "linear_attn.norm.weight", Group::norms, value_dim);
    linear("linear_attn.out_proj", Group::recurrent, hidden_, values, false);
  }

  void gated_mlp(const std::string& name, Group group, std::int64_t width, bool bias, std::int64_t copies = 1,
                 std::int64_t active = 1) {
    if (family_->fused_gate_up) {
      linear(name + ".gate_up_proj", group, 2 * width, hidden_, bias, copies, active);
    } else {
      if (family_->gated) linear(name + ".gate_proj", group, width, hidden_, bias, copies, active);
      linear(name + ".up_proj", group, width, hidden_, bias, copies, active);
    }
    linear(name + ".down_proj", group, hidden_, width, bias, copies, active);
  }

  void feed_forward(const Layer& layer) {
    if (layer.dense) {
      gated_mlp("mlp", Group::feed_forward, width_, has(family_->feed_forward_bias, a_.feed_forward_bias));
      return;
    }
    const auto& m = *a_.mixture;
    const auto experts = need(m.experts, "the number of experts");
    const auto width = need(m.width, "moe_intermediate_size");
    const auto active = m.per_token.value_or(experts);
    if (family_->experts == Experts::gpt_oss) {
      linear("mlp.router", Group::router, experts, hidden_, true);
      matrix(prefix_ + "mlp.experts.gate_up_proj", Group::experts, 2 * width, hidden_, true, experts, active);
      vector(prefix_ + "mlp.experts.gate_up_proj_bias", Group::experts, 2 * width * experts);
      matrix(prefix_ + "mlp.experts.down_proj", Group::experts, hidden_, width, true, experts, active);
      vector(prefix_ + "mlp.experts.down_proj_bias", Group::experts, hidden_ * experts);
      return;
    }
    linear("mlp.gate", Group::router, experts, hidden_, false);
    if (m.correction_bias) {
      vector(prefix_ + "mlp.gate.e_score_correction_bias", Group::router, experts);
      target_->back().always_f32 = true;
    }
    gated_mlp("mlp.experts.0", Group::experts, width, false, experts, active);
    if (m.shared_width) gated_mlp("mlp.shared_experts", Group::experts, *m.shared_width, false);
    if (m.shared_gate) linear("mlp.shared_expert_gate", Group::router, 1, hidden_, false);
  }

  // DeepSeek-V3's extra layer: norms, the joining projection, a layer of the model, copies of embedding and head.
  void prediction(std::int64_t vocabulary) {
    target_ = &out_.prediction;
    auto last = a_.layers.back();
    for (std::int64_t i = 0; i < a_.mtp_layers; ++i) {
      layer(*a_.layers_count + i, last);
      matrix(prefix_ + "eh_proj.weight", Group::prediction, hidden_, 2 * hidden_, false);  // never packed
      for (const char* name : {"enorm", "hnorm", "shared_head.norm"}) norm(name, hidden_);
      matrix(prefix_ + "embed_tokens.weight", Group::prediction, vocabulary, hidden_, false);
      matrix(prefix_ + "shared_head.head.weight", Group::prediction, vocabulary, hidden_, false);
    }
  }

  const Architecture& a_;
  const Family* family_;
  ExpectedTensors out_;
  std::vector<ExpectedTensor>* target_ = &out_.loaded;
  std::string prefix_;
  std::int64_t layer_ = -1;
  std::int64_t hidden_ = 0;
  std::int64_t width_ = 0;
  std::int64_t heads_ = 0;
  std::int64_t head_dim_ = 0;
};

}  // namespace

std::string_view to_text(Group group) {
  constexpr std::string_view kWords[] = {
      "embedding", "attention",   "feed-forward",           "experts", "router",  "norms",
      "recurrent", "output head", "multi-token prediction", "tower",   "buffers", "other"};
  return kWords[static_cast<std::size_t>(group)];
}

ExpectedTensors expected_tensors(const Architecture& architecture) {
  auto out = Builder(architecture).build();
  if (!out.missing.empty()) out.loaded.clear();
  return out;
}

}  // namespace assay::estimate
