// SPDX-License-Identifier: Apache-2.0
// Published measurements that the formulas must meet: each test names its source.
#include "tests/unit/estimate_support.hpp"

namespace assay {
namespace {

using namespace test;

std::optional<nlohmann::json> measured(const char* key) {
  const auto path = shared_data("measured.json");
  if (!path) return std::nullopt;
  std::ifstream file(*path);
  return nlohmann::json::parse(file).at(key);
}
#define WITH_MEASURED(variable, key)   \
  const auto variable = measured(key); \
  if (!variable) GTEST_SKIP() << "the shared data folder is absent"

std::string llama(std::int64_t hidden, std::int64_t inner, std::int64_t layers, std::int64_t heads, std::int64_t kv,
                  std::int64_t dim, std::int64_t vocabulary, bool tied, const char* type = "llama") {
  return nlohmann::json{{"model_type", type},
                        {"hidden_size", hidden},
                        {"intermediate_size", inner},
                        {"num_hidden_layers", layers},
                        {"num_attention_heads", heads},
                        {"num_key_value_heads", kv},
                        {"head_dim", dim},
                        {"vocab_size", vocabulary},
                        {"tie_word_embeddings", tied},
                        {"torch_dtype", "bfloat16"}}
      .dump();
}

// vllm-project/vllm#10517: weights, and blocks x 16 x bytes of a token.
TEST(Measured, VllmBlocksOfLlama) {
  WITH_MEASURED(m, "llama31_8b_vllm");
  const auto& run = m->at("runs")[0];
  auto request = request_for(16);
  request.cache.block_tokens = 16;
  const auto weights = run["weights_bytes"].get<std::int64_t>();
  const std::int64_t blocks = run["blocks"];
  request.memory_bytes = weights + blocks * 16 * 131072 + 16 * 131072 - 1;  // not one block more
  const auto e = estimate_config(llama(4096, 14336, 32, 32, 8, 128, 128256, false), request);
  EXPECT_EQ(e.base.resident_bytes.value, weights);
  EXPECT_EQ(e.base.kv_bytes_per_token.value, run["kv_bytes_per_token"].get<std::int64_t>());
  EXPECT_EQ(e.concurrency->blocks.value, blocks);
  EXPECT_EQ(e.concurrency->tokens.value, blocks * 16);
  EXPECT_EQ(blocks * 16 * 131072, 4'093'640'704);  // 3.8125 GiB, printed 3.81
}

// QwenLM speed benchmark: weights and cache as the estimate makes them, the rest 33 to 48 MiB.
TEST(Measured, QwenInTransformers) {
  WITH_MEASURED(m, "qwen3_transformers");
  struct Model {
    const char* name;
    std::string config;
  };
  const std::vector<Model> models{{"Qwen3-0.6B", llama(1024, 3072, 28, 16, 8, 128, 151936, true, "qwen3")},
                                  {"Qwen3-1.7B", llama(2048, 6144, 28, 16, 8, 128, 151936, true, "qwen3")},
                                  {"Qwen3-4B", llama(2560, 9728, 36, 32, 8, 128, 151936, true, "qwen3")},
                                  {"Qwen3-8B", llama(4096, 12288, 36, 32, 8, 128, 151936, false, "qwen3")},
                                  {"Qwen3-14B", llama(5120, 17408, 40, 40, 8, 128, 151936, false, "qwen3")},
                                  {"Qwen3-32B", llama(5120, 25600, 64, 64, 8, 128, 151936, false, "qwen3")}};
  int held = 0;
  for (const auto& row : m->at("rows")) {
    if (row["storage"] != "BF16") continue;
    for (const auto& model : models) {
      if (row["model"] != model.name) continue;
      const auto tokens = row["input_tokens"].get<std::int64_t>() + row["generated_tokens"].get<std::int64_t>();
      const auto e = estimate_config(model.config, request_for(tokens));
      EXPECT_EQ(e.base.total_bytes.value, row["weights_plus_kv_bytes"].get<std::int64_t>()) << model.name << tokens;
      if (row["input_tokens"] == 1) continue;  // generation may have stopped early there
      const auto residual = row["peak_allocated_mib"].get<std::int64_t>() - (*e.base.total_bytes.value >> 20);
      EXPECT_GE(residual, 33) << model.name;
      EXPECT_LE(residual, 48) << model.name;
      ++held;
    }
  }
  EXPECT_EQ(held, 18);
}

// llama.cpp README of -fit: 40960 -> 4096 tokens saves 3456 MiB.
TEST(Measured, LlamaCppContextDifference) {
  WITH_MEASURED(m, "qwen3_30b_llamacpp");
  const auto row = row_of("Qwen3-30B-A3B");
  const auto at = [&](std::int64_t tokens) {
    return *estimate_config(row->at("config").dump(), request_for(tokens)).base.kv_bytes.value;
  };
  EXPECT_EQ(at(40960) - at(4096), std::int64_t{3456} << 20);
  EXPECT_EQ(at(4096), m->at("context_mib").get<std::int64_t>() << 20);
}

// lmstudio-bug-tracker#1862: 16 layers of 64 cache, and a state for each of four sequences.
TEST(Measured, LmStudioHybrid) {
  WITH_MEASURED(m, "lmstudio_1862");
  auto config = row_of("Qwen3.5-27B")->at("config");
  config.erase("layer_types");
  const auto one = estimate_config(config.dump(), request_for(m->at("cells").get<std::int64_t>()));
  EXPECT_EQ(*one.base.kv_bytes.value, m->at("kv_mib").get<std::int64_t>() << 20);
  const auto four = estimate_config(config.dump(), request_for(1, m->at("sequences").get<std::int64_t>()));
  EXPECT_EQ(*four.cache.state_bytes.value * 2, static_cast<std::int64_t>(m->at("recurrent_mib").get<double>() * 2)
                                                   << 20);
}

// ollama PR#17037: gemma3 4B at 131072: 2560 MiB of full layers, 174 MiB of windows.
TEST(Measured, LlamaCppWindowCacheOfGemma) {
  WITH_MEASURED(m, "gemma3_4b_ollama");
  auto request = request_for(m->at("context").get<std::int64_t>());
  request.cache.ubatch = 512;
  auto config = nlohmann::json::parse(llama(2560, 10240, 34, 8, 4, 256, 262208, true, "gemma3_text"));
  config["sliding_window"] = 1024;
  config["sliding_window_pattern"] = 6;
  const auto e = estimate_config(config.dump(), request);
  EXPECT_EQ(*bound_named(e, "llama.cpp's window cache")->bytes_per_sequence.value >> 20,
            m->at("kv_mib").get<std::int64_t>());
}

// hf-mem#60: 5.38 GiB hold 78,384 tokens of gpt-oss-120b when every layer keeps every token.
TEST(Measured, GptOssTokens) {
  WITH_MEASURED(m, "gpt_oss_120b_vllm");
  auto config = row_of("gpt-oss-20b")->at("config");
  config["num_hidden_layers"] = 36;
  config["num_local_experts"] = 128;
  const auto tokens = m->at("tokens").get<std::int64_t>();
  const auto e = estimate_config(config.dump(), request_for(tokens));
  EXPECT_EQ(e.base.kv_bytes_per_token.value, m->at("bytes_per_token_all_full").get<std::int64_t>());
  EXPECT_NEAR(static_cast<double>(*e.base.kv_bytes.value) / (1 << 30), m->at("kv_gib").get<double>(), 0.005);
}

// vllm#21348: Qwen3-235B over four ranks: one of four heads each, K and V added.
TEST(Measured, SglangRank) {
  WITH_MEASURED(m, "qwen3_235b_sglang_tp4");
  auto request = request_for(m->at("tokens").get<std::int64_t>());
  request.cache.ranks = 4;
  auto config = nlohmann::json::parse(llama(4096, 12288, 94, 64, 4, 128, 151936, false, "qwen3_moe"));
  config["num_experts"] = 128;
  config["num_experts_per_tok"] = 8;
  config["moe_intermediate_size"] = 1536;
  const auto e = estimate_config(config.dump(), request);
  EXPECT_EQ(e.cache.rank_bytes_per_token->value, m->at("bytes_per_token_per_rank").get<std::int64_t>());
  EXPECT_NEAR(static_cast<double>(*e.cache.rank_bytes->value) / (1 << 30),
              m->at("k_gb_printed").get<double>() + m->at("v_gb_printed").get<double>(), 0.01);
}

// ZeRO (arXiv 1910.02054): 16 bytes a parameter with Adam in mixed precision; torchtitan's table: going from 8 to 128
// ranks of full sharding frees 14.02 GiB of an 8B model.
TEST(Measured, TrainingStates) {
  auto request = request_for(8192);
  const auto states = [&](std::int64_t ranks) {
    request.training = estimate::TrainingRequest{};
    request.training->stage = 3;
    request.training->replicas = ranks;
    const auto e = estimate_config(llama(4096, 14336, 32, 32, 8, 128, 128256, false), request);
    std::int64_t sum = 0;
    for (const auto& line : e.training)
      if (line.name.find("bit)") != std::string::npos || line.name.find("F32)") != std::string::npos)
        sum += *line.bytes.value;
    return sum;
  };
  EXPECT_EQ(states(1), 16 * 8'030'261'248);
  EXPECT_NEAR(static_cast<double>(states(8) - states(128)) / (1 << 30), 14.02, 0.01);
}

TEST(Boards, AreRankedByTheRoomTheyLeave) {
  auto request = request_for(8192);
  request.boards = true;
  const auto e = estimate_config(llama(4096, 14336, 32, 32, 8, 128, 128256, false), request);
  const auto need = *e.base.total_bytes.value;
  ASSERT_FALSE(e.boards.empty());
  EXPECT_EQ(e.boards.front().board.nominal_gb, 24);  // 17.1 GB: the tightest that holds it
  std::int64_t largest = 0;
  for (const auto& entry : e.boards) {
    EXPECT_EQ(*entry.room_bytes[0], entry.board.nominal_gb * 1'000'000'000 - need);
    EXPECT_FALSE(entry.board.source.empty());
    EXPECT_FALSE(entry.room_bytes[3]);  // another library version: nobody knows
    largest = std::max(largest, entry.board.nominal_gb);
  }
  EXPECT_GE(largest, 192);
  EXPECT_EQ(*e.variations[1].need_bytes.value - need, *e.base.kv_bytes.value);  // twice as long, once more the cache
}

}  // namespace
}  // namespace assay
