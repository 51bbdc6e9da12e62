// SPDX-License-Identifier: Apache-2.0
// The table of families.
#include "suite/estimate/family.hpp"

namespace assay::estimate {
namespace {

constexpr Family kFamilies[] = {
    {.types = "llama mistral ministral aquila granite smollm3 seed_oss", .feed_forward_bias = Bias::by_config},
    {.types = "mixtral", .experts = Experts::mixtral},
    {.types = "qwen2 qwen2_vl_text qwen2_5_vl_text",
     .qkv_bias = Bias::always,
     .output_bias = Bias::never,
     .windows = Windows::by_switch},
    {.types = "qwen3 qwen3_vl_text", .qk_norm = QkNorm::by_head, .windows = Windows::by_switch},
    {.types = "qwen2_moe",
     .qkv_bias = Bias::always,
     .output_bias = Bias::never,
     .windows = Windows::by_switch,
     .experts = Experts::qwen},
    {.types = "qwen3_moe qwen3_vl_moe_text",
     .qk_norm = QkNorm::by_head,
     .windows = Windows::by_switch,
     .experts = Experts::qwen},
    {.types = "qwen3_next qwen3_5_text qwen3_5_moe_text qwen3_5 qwen3_5_moe",
     .qk_norm = QkNorm::by_head,
     .windows = Windows::by_switch,
     .pattern = 4,
     .experts = Experts::qwen,
     .gated_query = true,
     .linear_layers = true},
    {.types = "phi3", .fused_qkv = true, .fused_gate_up = true},
    {.types = "phi",
     .gated = false,
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .feed_forward_bias = Bias::always,
     .norms = 1,
     .norm_bias = true,
     .head_bias = true},
    {.types = "gemma", .tied = true, .head_dim = 256},
    {.types = "gemma2",
     .tied = true,
     .norms = 4,
     .head_dim = 256,
     .default_window = 4096,
     .windows = Windows::even_layers},
    {.types = "gemma3_text gemma3",
     .tied = true,
     .norms = 4,
     .qk_norm = QkNorm::by_head,
     .head_dim = 256,
     .default_window = 4096,
     .windows = Windows::by_pattern,
     .pattern = 6},
    // Its class would tie; its published files carry an output head of their own.
    {.types = "falcon RefinedWeb RefinedWebModel",
     .gated = false,
     .fused_qkv = true,
     .norm_bias = true,
     .falcon = true},
    {.types = "deepseek_v2 deepseek_v3 kimi_k2", .experts = Experts::deepseek},
    {.types = "glm4_moe", .output_bias = Bias::never, .experts = Experts::deepseek},
    {.types = "gpt_oss",
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .head_dim = 64,
     .default_window = 128,
     .windows = Windows::even_layers,
     .experts = Experts::gpt_oss,
     .sinks = true},
    {.types = "gpt2",
     .tied = true,
     .gated = false,
     .fused_qkv = true,
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .feed_forward_bias = Bias::always,
     .norm_bias = true,
     .positions = true},
    {.types = "gpt_bigcode",
     .tied = true,
     .gated = false,
     .fused_qkv = true,
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .feed_forward_bias = Bias::always,
     .norm_bias = true,
     .positions = true},
    {.types = "gpt_neox",
     .gated = false,
     .fused_qkv = true,
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .feed_forward_bias = Bias::always,
     .norm_bias = true},
    {.types = "starcoder2",
     .tied = true,
     .gated = false,
     .qkv_bias = Bias::always,
     .output_bias = Bias::always,
     .feed_forward_bias = Bias::always,
     .norm_bias = true},
    {.types = "olmo", .norm_weight = false},
    {.types = "olmo2", .qk_norm = QkNorm::full},
    {.types = "cohere", .tied = true, .norms = 1},
    {.types = "cohere2",
     .tied = true,
     .norms = 1,
     .default_window = 4096,
     .windows = Windows::by_pattern,
     .pattern = 4},
    {.types = "bert roberta xlm-roberta camembert distilbert modernbert nomic_bert deberta deberta-v2 electra albert "
              "mpnet xlm-roberta-xl gte new",
     .encoder = true,
     .weights_unlisted = true},
    {.types =
         "bamba granitemoehybrid jamba nemotron_h falcon_h1 mamba mamba2 falcon_mamba lfm2 zamba2 opt bloom mpt "
         "stablelm internlm2 baichuan chatglm glm glm4 nemotron minimax olmoe dbrx gemma3n gemma3n_text gemma4_text "
         "deepseek_v32 cohere3 exaone4 llama4_text ernie4_5 hunyuan_v1_dense persimmon",
     .weights_unlisted = true},
};

bool names(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = list.find(' ');
    if (list.substr(0, end) == word) return true;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return false;
}

}  // namespace

const Family* family_of(std::string_view model_type) {
  if (model_type.empty()) return nullptr;
  for (const auto& family : kFamilies)
    if (names(family.types, model_type)) return &family;
  return nullptr;
}

}  // namespace assay::estimate
