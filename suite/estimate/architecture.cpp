// SPDX-License-Identifier: Apache-2.0
// Dimensions from a JSON configuration, in transformers' words or Mistral's; layer kinds stand in layer_kinds.cpp.
#include "suite/estimate/architecture.hpp"

#include <fmt/format.h>

#include <array>

#include "suite/estimate/config_fields.hpp"
#include "suite/estimate/layer_kinds.hpp"
#include "suite/model/config.hpp"
#include "suite/weights/reject.hpp"

namespace assay::estimate {
namespace {

// The type, or what an older or another form of configuration implies.
std::string type_of(ConfigFields& fields) {
  auto type = fields.text({"model_type"});
  // The part around a text model names itself too; find() has already preferred the inner one.
  if (type.empty() && fields.find({"dim"}) != nullptr && fields.find({"n_layers"}) != nullptr) {
    const auto* moe = fields.find({"moe"});
    type = moe != nullptr && moe->is_object() ? "mixtral" : "mistral";
  }
  if (!type.empty()) return type;
  const auto* list = fields.find({"architectures"});
  if (list == nullptr || !list->is_array() || list->empty() || !list->front().is_string()) return type;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kClasses{
      {{"LlamaForCausalLM", "llama"},
       {"MistralForCausalLM", "mistral"},
       {"MixtralForCausalLM", "mixtral"},
       {"Qwen2ForCausalLM", "qwen2"},
       {"Qwen3ForCausalLM", "qwen3"},
       {"Phi3ForCausalLM", "phi3"},
       {"GemmaForCausalLM", "gemma"},
       {"Gemma2ForCausalLM", "gemma2"},
       {"FalconForCausalLM", "falcon"},
       {"DeepseekV3ForCausalLM", "deepseek_v3"}}};
  const auto architecture = list->front().get<std::string>();
  for (const auto& [name, word] : kClasses)
    if (name == architecture) return std::string(word);
  return type;
}

std::string dtype_of(ConfigFields& fields) {
  auto text = fields.text({"dtype", "torch_dtype", "params_dtype"});
  if (text.starts_with("torch.")) text = text.substr(6);
  if (text == "bfloat16") return "BF16";
  if (text == "float16" || text == "half") return "F16";
  if (text == "float32" || text == "float") return "F32";
  return {};
}

void heads_of(ConfigFields& fields, Architecture& a) {
  a.heads = fields.count({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  const bool falcon = a.family != nullptr && a.family->falcon;
  if (falcon) {
    const bool newer = fields.flag({"new_decoder_architecture"}).value_or(false);
    const bool one = fields.flag({"multi_query"}).value_or(true);
    a.kv_heads = newer ? fields.count({"num_kv_heads", "n_head_kv"}) : one ? Dim(1) : a.heads;
    if (newer && !a.kv_heads) a.kv_heads = a.heads;
    const bool parallel = fields.flag({"parallel_attn"}).value_or(true);
    a.norms = newer ? fields.count({"num_ln_in_parallel_attn"}).value_or(2) : parallel ? 1 : 2;
  } else if (a.type == "gpt_bigcode" && fields.flag({"multi_query"}).value_or(true)) {
    a.kv_heads = 1;
  } else {
    a.kv_heads = fields.count({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                               "multi_query_group_num", "num_query_groups"});
    const bool stated = fields.find({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                                     "multi_query_group_num", "num_query_groups"}) != nullptr;
    if (!stated) a.kv_heads = a.heads;
  }
  a.head_dim = fields.count({"head_dim", "kv_channels", "attention_head_dim"});
  if (!a.head_dim && a.family != nullptr && a.family->head_dim > 0) a.head_dim = a.family->head_dim;
  if (!a.head_dim && a.hidden && a.heads) {
    if (*a.hidden % *a.heads == 0)
      a.head_dim = *a.hidden / *a.heads;
    else
      a.notes.push_back(
          fmt::format("head_dim is not given and hidden_size {} is not a multiple of {} heads", *a.hidden, *a.heads));
  }
}

void latent_of(ConfigFields& fields, Architecture& a) {
  const auto rank = fields.count({"kv_lora_rank"});
  if (!rank) return;
  Latent latent;
  latent.rank = rank;
  latent.query_rank = fields.count({"q_lora_rank"});
  latent.rope_dim = fields.count({"qk_rope_head_dim"});
  latent.nope_dim = fields.count({"qk_nope_head_dim"});
  latent.value_dim = fields.count({"v_head_dim"});
  a.latent = latent;
}

void mixture_of(ConfigFields& fields, Architecture& a) {
  Mixture mixture;
  mixture.experts = fields.whole({"n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"});
  const auto* moe = fields.find({"moe"});
  if (!mixture.experts && moe != nullptr && moe->is_object() && moe->contains("num_experts") &&
      moe->at("num_experts").is_number_unsigned())
    mixture.experts = moe->at("num_experts").get<std::int64_t>();
  if (mixture.experts.value_or(0) == 0) return;
  mixture.per_token = fields.count({"num_experts_per_tok", "moe_topk", "num_experts_per_token"});
  if (!mixture.per_token && moe != nullptr && moe->is_object() && moe->contains("num_experts_per_tok") &&
      moe->at("num_experts_per_tok").is_number_unsigned())
    mixture.per_token = moe->at("num_experts_per_tok").get<std::int64_t>();
  mixture.width = fields.count({"moe_intermediate_size", "expert_intermediate_size"});
  if (!mixture.width) mixture.width = a.width;
  const auto shared = fields.whole({"n_shared_experts", "num_shared_experts"}).value_or(0);
  if (shared > 0 && mixture.width) mixture.shared_width = std::min(shared * *mixture.width, kLargestDimension);
  if (const auto width = fields.whole({"shared_expert_intermediate_size"}); width.value_or(0) > 0) {
    mixture.shared_width = width;
    mixture.shared_gate = true;
  }
  mixture.correction_bias = fields.text({"topk_method"}) == "noaux_tc" || a.type == "deepseek_v3" ||
                            a.type == "kimi_k2" || a.type == "glm4_moe";
  a.mixture = mixture;
}

void tied_of(ConfigFields& fields, Architecture& a) {
  a.tied = fields.flag({"tie_word_embeddings", "tie_embeddings"});
  if (a.tied) {
    a.tied_source = "tie_word_embeddings of the configuration";
  } else if (a.family != nullptr) {
    a.tied = a.family->tied;
    a.tied_source = "the default of " + a.type + ", the configuration has no tie_word_embeddings";
  }
}

}  // namespace

Result<Architecture> architecture_of(const weights::ConfigFile& config) {
  ConfigFields fields(config);
  Architecture a;
  a.type = type_of(fields);
  a.family = family_of(a.type);
  a.encoder = a.family != nullptr && a.family->encoder && !fields.flag({"is_decoder"}).value_or(false);
  a.layers_count = fields.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  if (a.layers_count.value_or(0) > model::kMaxLayers)
    fields.fail("num_hidden_layers", *fields.find({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}),
                "at most 65536 layers are accepted");
  a.hidden = fields.count({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
  a.width = fields.count({"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff", "hidden_dim"});
  const bool four_times = a.family != nullptr && (a.family->falcon || a.type == "gpt2" || a.type == "gpt_bigcode");
  if (!a.width && four_times && a.hidden && *a.hidden <= kLargestDimension / 4) a.width = 4 * *a.hidden;
  a.vocabulary = fields.count({"vocab_size", "padded_vocab_size", "n_vocab"});
  a.positions = fields.count({"n_positions", "max_position_embeddings", "n_ctx"});
  heads_of(fields, a);
  if (a.family != nullptr && !a.family->falcon) a.norms = a.family->norms;
  a.attention_bias = fields.flag({"attention_bias", "use_bias", "bias", "use_qkv_bias"}).value_or(false);
  a.feed_forward_bias = fields.flag({"mlp_bias"}).value_or(a.family != nullptr && a.family->falcon && a.attention_bias);
  a.qk_norm = fields.flag({"use_qk_norm"}).value_or(a.family != nullptr && a.family->qk_norm != QkNorm::none);
  a.dtype = dtype_of(fields);
  latent_of(fields, a);
  mixture_of(fields, a);
  tied_of(fields, a);
  a.linear_key_heads = fields.count({"linear_num_key_heads"});
  a.linear_value_heads = fields.count({"linear_num_value_heads"});
  a.linear_key_dim = fields.count({"linear_key_head_dim"});
  a.linear_value_dim = fields.count({"linear_value_head_dim"});
  a.linear_kernel = fields.count({"linear_conv_kernel_dim"});
  a.mtp_layers = fields.whole({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"}).value_or(0);
  if (a.mtp_layers > 64)
    fields.fail("num_nextn_predict_layers",
                *fields.find({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"}),
                "at most 64 layers of prediction are accepted");
  if (!fields.error()) assign_layers(fields, a);
  if (fields.error()) return *fields.error();
  if (a.family == nullptr)
    a.notes.push_back((a.type.empty() ? std::string("the configuration names no model_type")
                                      : fmt::format("the model_type \"{}\" is not known", weights::shown(a.type))) +
                      ": where nothing else is said, a layer is taken to keep keys and values of every token");
  for (const auto& item : config.unknown)
    a.contradictions.push_back(
        fmt::format("{} is not standard JSON at byte {}: \"{}\" is {}, and only that field is "
                    "taken as unknown",
                    config.name, item.byte, weights::shown(item.field), item.value));
  return a;
}

}  // namespace assay::estimate
