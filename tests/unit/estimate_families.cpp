// SPDX-License-Identifier: Apache-2.0
// Families beyond the rows of the shared data: the parameter totals of published checkpoints, from dimensions alone.
#include "tests/unit/estimate_support.hpp"

namespace assay {
namespace {

struct Dimensions {
  const char* name;
  const char* type;
  std::int64_t hidden, inner, layers, heads, kv_heads, vocabulary;
  const char* more;  // further members
  std::int64_t parameters;
};

constexpr const char* kUntied = R"(,"tie_word_embeddings":false)";

const Dimensions kModels[] = {
    {"Mixtral-8x7B", "mixtral", 4096, 14336, 32, 32, 8, 32000,
     R"(,"tie_word_embeddings":false,"num_local_experts":8,"num_experts_per_tok":2)", 46'702'792'704},
    {"Mistral-7B", "mistral", 4096, 14336, 32, 32, 8, 32000, R"(,"tie_word_embeddings":false,"sliding_window":4096)",
     7'241'732'096},
    {"Qwen2.5-7B", "qwen2", 3584, 18944, 28, 28, 4, 152064, kUntied, 7'615'616'512},
    {"Qwen2.5-0.5B", "qwen2", 896, 4864, 24, 14, 2, 151936, R"(,"tie_word_embeddings":true)", 494'032'768},
    {"gemma-7b", "gemma", 3072, 24576, 28, 16, 16, 256000, R"(,"head_dim":256)", 8'537'680'896},
    {"gemma-2-2b", "gemma2", 2304, 9216, 26, 8, 4, 256000, R"(,"head_dim":256)", 2'614'341'888},
    {"gemma-2-27b", "gemma2", 4608, 36864, 46, 32, 16, 256000, R"(,"head_dim":128)", 27'227'128'320},
    {"gemma-3-1b", "gemma3_text", 1152, 6912, 26, 4, 1, 262144, R"(,"head_dim":256,"sliding_window":512)", 999'885'952},
    {"falcon-7b", "falcon", 4544, 18176, 32, 71, 71, 65024,
     R"(,"multi_query":true,"parallel_attn":true,"bias":false,"new_decoder_architecture":false)", 7'217'189'760},
    {"DeepSeek-V2-Lite", "deepseek_v2", 2048, 10944, 27, 16, 16, 102400,
     R"(,"tie_word_embeddings":false,"kv_lora_rank":512,"q_lora_rank":null,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":64,"n_shared_experts":2,"num_experts_per_tok":6,"moe_intermediate_size":1408,"first_k_dense_replace":1)",
     15'706'484'224},
    {"Qwen3-235B-A22B", "qwen3_moe", 4096, 12288, 94, 64, 4, 151936,
     R"(,"tie_word_embeddings":false,"head_dim":128,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":1536)",
     235'093'634'560},
    {"gpt-oss-120b", "gpt_oss", 2880, 2880, 36, 64, 8, 201088,
     R"(,"tie_word_embeddings":false,"head_dim":64,"num_local_experts":128,"num_experts_per_tok":4)", 116'829'156'672},
    {"phi-2", "phi", 2560, 10240, 32, 32, 32, 51200, kUntied, 2'779'683'840},
    {"pythia-6.9b", "gpt_neox", 4096, 16384, 32, 32, 32, 50432, kUntied, 6'857'302'016},
    {"Qwen1.5-MoE-A2.7B", "qwen2_moe", 2048, 5632, 24, 16, 16, 151936,
     R"(,"tie_word_embeddings":false,"num_experts":60,"num_experts_per_tok":4,"moe_intermediate_size":1408,"shared_expert_intermediate_size":5632)",
     14'315'784'192},
    {"OLMo-2-7B", "olmo2", 4096, 11008, 32, 32, 32, 100352, kUntied, 7'298'617'344},
    {"Qwen3-Next-80B-A3B", "qwen3_next", 2048, 5120, 48, 16, 2, 151936,
     R"(,"tie_word_embeddings":false,"head_dim":256,"num_experts":512,"num_experts_per_tok":10,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_conv_kernel_dim":4)",
     79'674'391'296},
    {"starcoder2-3b", "starcoder2", 3072, 12288, 30, 24, 2, 49152, R"(,"tie_word_embeddings":true)", 3'030'371'328},
    {"command-r", "cohere", 8192, 22528, 40, 64, 64, 256000, "", 34'980'831'232},
    {"Kimi-K2", "kimi_k2", 7168, 18432, 61, 64, 64, 163840,
     R"(,"tie_word_embeddings":false,"kv_lora_rank":512,"q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":384,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":2048,"first_k_dense_replace":1,"topk_method":"noaux_tc")",
     1'026'408'232'448}};

TEST(Families, MakeTheParametersOfPublishedModels) {
  for (const auto& m : kModels) {
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const auto config = std::string(R"({"model_type":")") + m.type + R"(","hidden_size":)" + number(m.hidden) +
                        R"(,"intermediate_size":)" + number(m.inner) + R"(,"num_hidden_layers":)" + number(m.layers) +
                        R"(,"num_attention_heads":)" + number(m.heads) + R"(,"num_key_value_heads":)" +
                        number(m.kv_heads) + R"(,"vocab_size":)" + number(m.vocabulary) +
                        R"(,"torch_dtype":"bfloat16")" + m.more + "}";
    const auto e = test::estimate_config(config, test::request_for(16));
    EXPECT_EQ(e.base.parameters.value, m.parameters) << m.name << ' ' << e.base.parameters.reason;
    EXPECT_TRUE(e.base.kv_bytes.value) << m.name;
  }
}

// gpt2 has its own words for everything.
TEST(Families, OlderWordsForTheSame) {
  const auto e = test::estimate_config(
      R"({"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257})",
      test::request_for(1));
  EXPECT_EQ(e.base.parameters.value, 124'439'808);
  EXPECT_EQ(e.base.kv_bytes_per_token.value, 2 * 12 * 768 * 2);
}

TEST(Families, EncodersKeepNothingAndUnknownTypesSaySo) {
  const auto encoder = test::estimate_config(
      R"({"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"vocab_size":30522})",
      test::request_for(512));
  EXPECT_EQ(encoder.base.kv_bytes.value, 0);
  EXPECT_FALSE(encoder.base.resident_bytes.value);
  EXPECT_FALSE(encoder.base.resident_bytes.reason.empty());
  const auto unknown = test::estimate_config(
      R"({"model_type":"brand_new","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":32})",
      test::request_for(10));
  EXPECT_FALSE(unknown.base.parameters.value);
  EXPECT_EQ(unknown.base.kv_bytes.value, 10 * 2 * 2 * 64 * 2);
  EXPECT_THAT(unknown.notes, ::testing::Contains(::testing::HasSubstr("brand_new")));
}

TEST(Families, HybridsOfStateSpacesAndAttention) {
  // One attention layer in eight; the others keep d_inner x d_state and the convolution's past.
  const auto jamba = test::estimate_config(
      R"({"model_type":"jamba","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"attn_layer_period":8,"attn_layer_offset":4,"mamba_d_state":16,"mamba_d_conv":4,"mamba_expand":2})",
      test::request_for(100, 3));
  EXPECT_EQ(jamba.base.kv_bytes_per_token.value, 2 * 4 * 8 * 128 * 2);
  EXPECT_EQ(jamba.cache.state_bytes.value, 3LL * 28 * (8192 * 16 + 8192 * 3) * 4);
  const auto nemotron = test::estimate_config(
      R"({"model_type":"nemotron_h","hidden_size":64,"num_hidden_layers":6,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":32,"hybrid_override_pattern":"M-M*-M","mamba_num_heads":8,"mamba_head_dim":16,"ssm_state_size":32,"conv_kernel":4,"n_groups":2})",
      test::request_for(10));
  EXPECT_EQ(nemotron.base.kv_bytes_per_token.value, 2 * 1 * 2 * 16 * 2);
  EXPECT_EQ(nemotron.cache.state_bytes.value, 3 * (128 * 32 + (128 + 2 * 2 * 32) * 3) * 4);
}

TEST(Families, PagedWindowsAsEnginesRoundThem) {
  auto request = test::request_for(10'000);
  request.cache.block_tokens = 16;
  request.cache.batched = 2048;
  const auto e = test::estimate_config(
      R"({"model_type":"gemma2","hidden_size":64,"intermediate_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":32,"sliding_window":1000})",
      request);
  const std::int64_t layer = 2 * 2 * 16 * 2;
  EXPECT_EQ(test::bound_named(e, "sliding window honoured")->bytes_per_sequence.value, layer * (10'000 + 1008));
  // Blocks of min(window - 1 + batched, tokens), and one more.
  EXPECT_EQ(test::bound_named(e, "vLLM's window blocks")->bytes_per_sequence.value, layer * (10'000 + 3056 + 16));
}

}  // namespace
}  // namespace assay
