// SPDX-License-Identifier: Apache-2.0
// Fifteen published models by their configuration: parameters, bytes, cache, each to the byte or the stated bound.
#include "tests/unit/estimate_support.hpp"

namespace assay {
namespace {

using namespace test;
using estimate::Part;

// layer_types of one row is written in words.
nlohmann::json config_of(const nlohmann::json& row) {
  auto config = row.at("config");
  if (config.contains("layer_types") && config["layer_types"].is_string()) {
    auto list = nlohmann::json::array();
    for (int i = 0; i < config["num_hidden_layers"].get<int>(); ++i)
      list.push_back(i % 4 == 3 ? "full_attention" : "linear_attention");
    config["layer_types"] = list;
  }
  return config;
}

class Row : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    row_ = row_of(GetParam());
    if (!row_) GTEST_SKIP() << "the shared data folder is absent";
  }
  [[nodiscard]] estimate::ModelEstimate at(std::int64_t tokens, std::int64_t sequences = 1) const {
    return estimate_config(config_of(*row_).dump(), request_for(tokens, sequences));
  }
  std::optional<nlohmann::json> row_;
};

TEST_P(Row, FromItsConfiguration) {
  const auto& expect = row_->at("expect");
  const auto e = at(4096);
  EXPECT_THAT(e.contradictions, ::testing::IsEmpty());
  if (expect.contains("parameters")) {
    EXPECT_EQ(e.base.parameters.value, expect["parameters"].get<std::int64_t>());
  }
  if (expect.contains("active_parameters")) {
    EXPECT_EQ(e.active_parameters.value, expect["active_parameters"].get<std::int64_t>());
  }
  EXPECT_EQ(e.base.kv_bytes_per_token.value, expect["kv_bytes_per_token"].get<std::int64_t>());
  if (expect.contains("checkpoint_tensor_bytes")) {
    // What only the files know: buffers, and the text of each quant_state (a bound).
    const auto buffers = expect.value("buffer_elements", std::int64_t{0}) * 4;
    const auto missing = expect["checkpoint_tensor_bytes"].get<std::int64_t>() - buffers - *e.base.tensor_bytes.value;
    EXPECT_GE(missing, e.weights.unstated_minimum);
    EXPECT_LE(missing, e.weights.unstated_maximum);
  }
  if (expect.contains("tensors") && !expect.contains("buffer_elements")) {
    EXPECT_EQ(e.weights.tensors, expect["tensors"].get<std::int64_t>());
  }
  for (const auto& item : expect.value("kv_cases", nlohmann::json::array())) {
    const auto sized = at(item["context"].get<std::int64_t>(), item["batch"].get<std::int64_t>());
    const auto assume = item.value("assume", std::string());
    const bool window = assume.starts_with("window");
    const auto& bound = sized.base.kv_bounds.at(window ? 1 : 0);
    EXPECT_EQ(bound.name, window ? "sliding window honoured" : "every token kept");
    EXPECT_EQ(bound.bytes_per_sequence.value, item["bytes"].get<std::int64_t>()) << assume;
  }
}

INSTANTIATE_TEST_SUITE_P(Published, Row,
                         ::testing::Values("Llama-3.2-3B", "Mixtral-8x22B", "Devstral-Small", "Phi-3-mini", "gemma-2b",
                                           "falcon-180B", "gemma-2-9b", "DeepSeek-V3", "Qwen3-30B-A3B",
                                           "Llama-2-7B stored in F32", "Llama-2-13B", "Genz-70b",
                                           "Llama-2-7B-Chat GGUF", "Qwen3.5-27B", "gpt-oss-20b"));

// The traps, one by one; expected numbers are worked out here from the row's dimensions.

#define WITH_ROW(variable, name)      \
  const auto variable = row_of(name); \
  if (!variable) GTEST_SKIP() << "the shared data folder is absent"

TEST(Trap, TiedEmbeddingsAreCountedOnce) {
  WITH_ROW(row, "Llama-3.2-3B");
  auto config = row->at("config");
  const auto tied = estimate_config(config.dump(), request_for(1));
  config["tie_word_embeddings"] = false;
  const auto untied = estimate_config(config.dump(), request_for(1));
  EXPECT_EQ(*untied.base.tensor_bytes.value - *tied.base.tensor_bytes.value, 788'004'864);
}

TEST(Trap, GemmaIsTiedByItsClassAndItsF32IsTwice) {
  WITH_ROW(row, "gemma-2b");
  ASSERT_FALSE(row->at("config").contains("tie_word_embeddings"));
  auto request = request_for(1);
  EXPECT_EQ(estimate_config(row->at("config").dump(), request).base.resident_bytes.value, 5'012'344'832);
  request.weights.dtype = "F32";
  EXPECT_EQ(estimate_config(row->at("config").dump(), request).base.resident_bytes.value, 10'024'689'664);
}

TEST(Trap, AllExpertsAreResident) {
  WITH_ROW(row, "Mixtral-8x22B");
  const auto e = estimate_config(row->at("config").dump(), request_for(1));
  EXPECT_EQ(e.base.resident_bytes.value, 281'241'268'224);
  EXPECT_LT(*e.active_parameters.value * 2, *e.base.resident_bytes.value);
}

TEST(Trap, AnUnusedWidthMakesNoBytes) {
  WITH_ROW(row, "Qwen3-30B-A3B");
  auto config = row->at("config");
  config["intermediate_size"] = 1;
  EXPECT_EQ(estimate_config(config.dump(), request_for(1)).base.parameters.value, 30'532'122'624);
  config.erase("intermediate_size");
  EXPECT_EQ(estimate_config(config.dump(), request_for(1)).base.parameters.value, 30'532'122'624);
}

TEST(Trap, AnExplicitHeadDimWins) {
  WITH_ROW(row, "Devstral-Small");
  auto config = row->at("config");
  config.erase("head_dim");
  EXPECT_EQ(estimate_config(config.dump(), request_for(1)).base.kv_bytes_per_token.value,
            row->at("expect")["kv_bytes_per_token_wrong_if_head_dim_is_hidden_over_heads"].get<std::int64_t>());
}

TEST(Trap, FalconNamesItsHeadsDifferently) {
  WITH_ROW(row, "falcon-180B");
  auto config = row->at("config");
  const auto e = estimate_config(config.dump(), request_for(1));
  EXPECT_EQ(e.base.kv_bytes_per_token.value, 2 * 80 * 8 * 64 * 2);
  config["new_decoder_architecture"] = false;  // then multi_query means one head
  EXPECT_EQ(estimate_config(config.dump(), request_for(1)).base.kv_bytes_per_token.value, 2 * 80 * 1 * 64 * 2);
}

TEST(Trap, TheLatentIsReplicatedOverRanks) {
  WITH_ROW(row, "DeepSeek-V3");
  for (const std::int64_t ranks : {2, 8, 16}) {
    auto request = request_for(1);
    request.cache.ranks = ranks;
    const auto e = estimate_config(row->at("config").dump(), request);
    EXPECT_EQ(e.cache.rank_bytes_per_token->value, 70'272) << ranks;
  }
  const auto e = estimate_config(row->at("config").dump(), request_for(1));
  EXPECT_EQ(bound_named(e, "keys and values of every head expanded")->bytes_per_token.value, 4'997'120);
  EXPECT_EQ(bound_named(e, "vLLM's fp8_ds_mla")->bytes_per_token.value, 40'016);
  EXPECT_GT(not_loaded(e, estimate::Group::prediction), 0);
  EXPECT_GT(bytes_of_part(e, Part::scales), 0);
  EXPECT_THAT(e.weights.storage, ::testing::HasSubstr("FP8"));
}

TEST(Trap, HeadsAreDividedAndThenReplicated) {
  WITH_ROW(row, "Llama-3.2-3B");
  for (const auto& [ranks, heads] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 4}, {8, 1}, {16, 1}}) {
    auto request = request_for(1);
    request.cache.ranks = ranks;
    const auto e = estimate_config(row->at("config").dump(), request);
    EXPECT_EQ(e.cache.rank_bytes_per_token->value, 2 * 28 * heads * 128 * 2) << ranks;
  }
  auto request = request_for(1);
  request.cache.ranks = 3;
  EXPECT_FALSE(estimate_config(row->at("config").dump(), request).cache.rank_bytes_per_token->value);
}

TEST(Trap, NullWindowsAndSwitchedOffWindowsAreNone) {
  for (const char* name : {"Mixtral-8x22B", "Devstral-Small", "Qwen3-30B-A3B"}) {
    WITH_ROW(row, name);
    EXPECT_EQ(estimate_config(row->at("config").dump(), request_for(9000)).base.kv_bounds.size(), 1U) << name;
  }
  WITH_ROW(row, "Qwen3-30B-A3B");
  auto config = row->at("config");
  config["sliding_window"] = 4096;  // set, and switched off
  EXPECT_EQ(estimate_config(config.dump(), request_for(9000)).base.kv_bounds.size(), 1U);
}

TEST(Trap, AWindowSavesNothingInsideIt) {
  WITH_ROW(row, "gemma-2-9b");
  const auto e = estimate_config(row->at("config").dump(), request_for(4096));
  EXPECT_EQ(e.base.kv_bounds.at(0).bytes_per_sequence.value, e.base.kv_bounds.at(1).bytes_per_sequence.value);
}

TEST(Trap, QuantisedPartsAreLinesOfTheirOwn) {
  WITH_ROW(nf4, "Llama-2-13B");
  const auto e = estimate_config(nf4->at("config").dump(), request_for(1));
  EXPECT_EQ(e.base.tensor_bytes.value, 7'201'722'880);
  EXPECT_EQ(bytes_of_part(e, Part::codebook), 280 * (64 + 1024));
  EXPECT_GT(*e.base.tensor_bytes.value, nf4->at("expect")["nominal_half_byte_bytes"].get<std::int64_t>());
  WITH_ROW(gptq, "Genz-70b");
  const auto g = estimate_config(gptq->at("config").dump(), request_for(1));
  // Three bits: 32 values in three words; one group a row; a bias of zeros.
  EXPECT_EQ(bytes_of_part(g, Part::group_index), 80 * 4 * (6 * 8192 + 28672));
  EXPECT_GT(bytes_of_part(g, Part::zeros), 0);
  EXPECT_GT(bytes_of_part(g, Part::bias), 0);
  WITH_ROW(mxfp4, "gpt-oss-20b");
  const auto m = estimate_config(mxfp4->at("config").dump(), request_for(1));
  EXPECT_EQ(bytes_of_part(m, Part::scales), 597'196'800);
  EXPECT_EQ(*m.base.tensor_bytes.value - bytes_of_part(m, Part::scales) - 9'555'148'800, 3'608'919'168);
}

TEST(Trap, AQuantisedCacheHasBlocksWithScales) {
  WITH_ROW(row, "Llama-2-7B-Chat GGUF");
  for (const auto& [name, bytes] : row->at("expect")["kv_bytes_per_token_quantised"].items()) {
    auto request = request_for(1);
    request.cache.dtype = name;
    EXPECT_EQ(estimate_config(row->at("config").dump(), request).base.kv_bytes_per_token.value,
              bytes.get<std::int64_t>());
  }
}

TEST(Trap, StatesAreFixedPerSequence) {
  WITH_ROW(row, "Qwen3.5-27B");
  for (const std::int64_t tokens : {1, 262144}) {
    const auto e = estimate_config(config_of(*row).dump(), request_for(tokens, 4));
    EXPECT_EQ(e.cache.state_bytes_per_sequence.value, 156'893'184);
    EXPECT_EQ(e.cache.state_bytes.value, 627'572'736);
  }
  // Nested, as the published file has it, beside a tower and a layer of prediction.
  nlohmann::json outer{{"model_type", "qwen3_5"}, {"text_config", config_of(*row)}, {"vision_config", {{"depth", 27}}}};
  outer["text_config"]["mtp_num_hidden_layers"] = 1;
  const auto e = estimate_config(outer.dump(), request_for(262144));
  EXPECT_EQ(e.base.kv_bytes.value, 17'179'869'184);
}

}  // namespace
}  // namespace assay
