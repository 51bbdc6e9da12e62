// SPDX-License-Identifier: Apache-2.0
// Reading a config.json: the families and their defaults, the shipped files, and every bad input refused in one
// sentence.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "suite/model/bytes.hpp"
#include "suite/model/config.hpp"

namespace assay::model {
namespace {

// A small llama whose members can be replaced or left out one by one.
class Config {
 public:
  Config& set(const std::string& key, const std::string& value) {
    for (auto& member : members_) {
      if (member.first == key) {
        member.second = value;
        return *this;
      }
    }
    members_.emplace_back(key, value);
    return *this;
  }
  Config& drop(const std::string& key) {
    std::erase_if(members_, [&](const auto& member) { return member.first == key; });
    return *this;
  }
  [[nodiscard]] std::string text() const {
    std::string out = "{";
    for (const auto& [key, value] : members_) out += (out.size() > 1 ? ", \"" : "\"") + key + "\": " + value;
    return out + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_ = {
      {"model_type", "\"llama\""},    {"hidden_size", "64"},
      {"intermediate_size", "96"},    {"num_hidden_layers", "2"},
      {"num_attention_heads", "4"},   {"num_key_value_heads", "2"},
      {"vocab_size", "100"},          {"max_position_embeddings", "256"},
      {"tie_word_embeddings", "true"}};
};

// The one sentence of a refusal: it begins with the file and has no line break.
std::string refusal(const std::string& text) {
  const auto read = parse_config(text, "some/config.json");
  if (read) return "accepted";
  EXPECT_EQ(read.error().code, ErrorCode::bad_input) << read.error().text;
  EXPECT_EQ(read.error().text.find("some/config.json"), 0u) << read.error().text;
  EXPECT_EQ(read.error().text.find('\n'), std::string::npos) << read.error().text;
  EXPECT_LT(read.error().text.size(), 400u) << read.error().text;
  return read.error().text;
}

void expect_refusal(const Config& config, const std::string& field, const std::string& value) {
  const std::string text = refusal(config.text());
  EXPECT_NE(text.find("\"" + field + "\" is " + value), std::string::npos) << text;
}

DecoderConfig accept(const Config& config) {
  const auto read = parse_config(config.text(), "some/config.json");
  EXPECT_TRUE(read) << read.error().text;
  return read ? *read : DecoderConfig{};
}

std::filesystem::path shipped(const std::string& name) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / "suite/data/models" / name;
}

TEST(ModelConfig, AnArchitectureThatContradictsTheTypeIsRefused) {
  for (const char* architectures :
       {"[\"BertModel\"]", "[\"LlamaForCausalLM\"]", "[\"Qwen2MoeForCausalLM\"]",
        "[\"MistralForCausalLM\", \"BertModel\"]", "[\"Mistral\"]", "[7]", "\"MistralForCausalLM\""})
    expect_refusal(Config().set("model_type", "\"mistral\"").set("architectures", architectures), "architectures", "");
  for (const char* architectures : {"[\"MistralForCausalLM\"]", "[\"MistralModel\"]", "[]", "null",
                                    "[\"MistralForCausalLM\", \"MistralForSequenceClassification\"]"})
    accept(Config().set("model_type", "\"mistral\"").set("architectures", architectures));
  accept(Config().drop("model_type").set("architectures", "[\"LlamaForCausalLM\"]"));
  expect_refusal(Config().drop("model_type").set("architectures", "[\"LlamaForCausalLM\", \"BertModel\"]"),
                 "architectures", "\"BertModel\"");
}

TEST(ModelConfig, ReadsEveryDimension) {
  const auto config =
      accept(Config().set("rope_theta", "1e6").set("rms_norm_eps", "1e-5").set("attention_bias", "true"));
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.intermediate_size, 96);
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.query_heads, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.vocabulary, 100);
  EXPECT_EQ(config.max_positions, 256);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_TRUE(config.attention_bias);
  EXPECT_EQ(config.sliding_window, 0);
  EXPECT_EQ(config.model_type, "llama");
}

TEST(ModelConfig, DefaultsAreThoseOfTheFamily) {
  const auto llama = accept(Config().drop("num_key_value_heads").drop("tie_word_embeddings"));
  EXPECT_EQ(llama.kv_heads, 4) << "llama: as many as query heads";
  EXPECT_FALSE(llama.tied_embeddings);
  EXPECT_FALSE(llama.attention_bias);
  EXPECT_EQ(llama.rope_theta, 10000.0);
  EXPECT_EQ(llama.norm_epsilon, 1e-6);
  const auto mistral =
      accept(Config().set("model_type", "\"mistral\"").set("num_attention_heads", "16").drop("num_key_value_heads"));
  EXPECT_EQ(mistral.kv_heads, 8);
  const auto qwen2 = accept(Config().set("model_type", "\"qwen2\""));
  EXPECT_TRUE(qwen2.attention_bias) << "the family has biases though the file does not say so";
  EXPECT_EQ(accept(Config().set("num_key_value_heads", "null")).kv_heads, 4) << "null is absent";
  EXPECT_EQ(accept(Config().set("rope_parameters", "{\"rope_theta\": 5e5}")).rope_theta, 5e5);
  const auto named = accept(Config().drop("model_type").set("architectures", "[\"MistralForCausalLM\"]"));
  EXPECT_EQ(named.model_type, "mistral");
}

TEST(ModelConfig, AnExplicitHeadDimensionWins) {
  const auto config = accept(Config().set("head_dim", "32").set("hidden_size", "66"));
  EXPECT_EQ(config.head_dim, 32);
  EXPECT_EQ(config.hidden_size, 66) << "need not be divisible then";
  EXPECT_EQ(accept(Config().set("head_dim", "null")).head_dim, 16);
}

TEST(ModelConfig, TheWindowIsHonouredWhereTheFamilyHonoursIt) {
  const Config windowed = Config().set("sliding_window", "32");
  EXPECT_EQ(accept(windowed).sliding_window, 0) << "llama has no window";
  EXPECT_EQ(accept(Config(windowed).set("model_type", "\"mistral\"")).sliding_window, 32);
  EXPECT_EQ(accept(Config().set("model_type", "\"mistral\"").set("sliding_window", "null")).sliding_window, 0);
  const Config qwen2 = Config(windowed).set("model_type", "\"qwen2\"");
  EXPECT_EQ(accept(qwen2).sliding_window, 0) << "switched off unless use_sliding_window says otherwise";
  EXPECT_EQ(accept(Config(qwen2).set("use_sliding_window", "false")).sliding_window, 0);
  const Config on = Config(qwen2).set("use_sliding_window", "true");
  EXPECT_EQ(accept(on).sliding_window, 32);
  EXPECT_EQ(accept(Config(on).set("max_window_layers", "2")).sliding_window, 0) << "no layer is beyond them";
  expect_refusal(Config(on).set("max_window_layers", "1"), "max_window_layers", "1");
}

TEST(ModelConfig, RefusesEveryBadCountByName) {
  const char* required[] = {"hidden_size",         "intermediate_size", "num_hidden_layers",
                            "num_attention_heads", "vocab_size",        "max_position_embeddings"};
  for (const std::string field : required) {
    expect_refusal(Config().drop(field), field, "missing");
    expect_refusal(Config().set(field, "null"), field, "missing");
  }
  const char* counts[] = {"hidden_size",         "intermediate_size", "num_hidden_layers", "num_attention_heads",
                          "num_key_value_heads", "vocab_size",        "head_dim",          "max_position_embeddings"};
  for (const std::string field : counts) {
    for (const std::string value : {"0", "-3", "2.5", "64.0", "1e3", "\"64\"", "true", "[64]", "{}", "9007199254740992",
                                    "9223372036854775808", "18446744073709551615"}) {
      const std::string text = refusal(Config().set(field, value).text());
      EXPECT_NE(text.find("\"" + field + "\" is "), std::string::npos) << field << " = " << value << ": " << text;
    }
    EXPECT_NE(refusal(Config().set(field, "99999999999999999999999").text()), "accepted") << field;
  }
}

TEST(ModelConfig, RefusesHeadsThatDoNotFit) {
  expect_refusal(Config().set("hidden_size", "65"), "hidden_size", "65");
  expect_refusal(Config().set("num_key_value_heads", "3"), "num_key_value_heads", "3");
  expect_refusal(Config().set("num_key_value_heads", "8"), "num_key_value_heads", "8");
  expect_refusal(Config().set("head_dim", "15"), "head_dim", "15");
  expect_refusal(Config().set("hidden_size", "60"), "head_dim", "15");
}

TEST(ModelConfig, RefusesTotalsBeyondADocument) {
  EXPECT_NE(refusal(Config().set("hidden_size", "1099511627776").set("vocab_size", "2000000000").text()), "accepted");
  EXPECT_NE(refusal(Config().set("intermediate_size", "9007199254740991").text()).find("2^53"), std::string::npos);
  expect_refusal(Config().set("num_hidden_layers", "9007199254740991"), "num_hidden_layers", "9007199254740991");
  expect_refusal(Config().set("vocab_size", "2147483648"), "vocab_size", "2147483648");
}

TEST(ModelConfig, NamesWhatAnUnsupportedArchitectureIs) {
  expect_refusal(Config().set("model_type", "\"mixtral\"").set("num_local_experts", "8"), "num_local_experts", "8");
  expect_refusal(Config().set("kv_lora_rank", "512"), "kv_lora_rank", "512");
  expect_refusal(Config().set("model_type", "\"bert\""), "model_type", "\"bert\"");
  expect_refusal(Config().set("is_encoder_decoder", "true"), "is_encoder_decoder", "true");
  expect_refusal(Config().drop("model_type").set("text_config", "{\"hidden_size\": 64}"), "text_config", "{");
  expect_refusal(Config().set("quantization_config", "{\"bits\": 4}"), "quantization_config", "{\"bits\":4}");
  expect_refusal(Config().set("hidden_act", "\"gelu\""), "hidden_act", "\"gelu\"");
  expect_refusal(Config().set("layer_types", "[\"full_attention\", \"sliding_attention\"]"), "layer_types", "[");
  expect_refusal(Config().drop("model_type"), "model_type", "missing");
  expect_refusal(Config().drop("model_type").set("architectures", "[\"BertModel\"]"), "architectures", "\"BertModel\"");
  EXPECT_EQ(refusal(Config().set("num_experts", "0").set("is_encoder_decoder", "false").text()), "accepted");
}

TEST(ModelConfig, RefusesWrongTypesOfOtherFields) {
  expect_refusal(Config().set("rope_theta", "\"big\""), "rope_theta", "\"big\"");
  expect_refusal(Config().set("rope_theta", "0"), "rope_theta", "0");
  expect_refusal(Config().set("rms_norm_eps", "-1"), "rms_norm_eps", "-1");
  expect_refusal(Config().set("tie_word_embeddings", "1"), "tie_word_embeddings", "1");
  expect_refusal(Config().set("attention_bias", "\"yes\""), "attention_bias", "\"yes\"");
  expect_refusal(Config().set("model_type", "7"), "model_type", "7");
  expect_refusal(Config().set("model_type", "\"mistral\"").set("sliding_window", "0"), "sliding_window", "0");
  EXPECT_NE(refusal("[1, 2]"), "accepted");
  EXPECT_NE(refusal("null"), "accepted");
}

TEST(ModelConfig, RefusesWhatIsNotJson) {
  const std::string whole = Config().text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << "cut after " << length << " bytes";
  }
  for (const std::string value : {"NaN", "Infinity", "-Infinity", "nan", "0x40", "064", "64,", "'64'"}) {
    EXPECT_NE(refusal(Config().set("hidden_size", value).text()), "accepted") << value;
    EXPECT_NE(refusal(Config().set("rope_theta", value).text()), "accepted") << value;
  }
  EXPECT_NE(refusal(whole.substr(0, whole.size() - 1) + ", \"hidden_size\": 32}"), "accepted") << "a key twice";
  const std::size_t deep = 1000000;
  EXPECT_NE(refusal(std::string(deep, '[')), "accepted");
  EXPECT_NE(refusal(Config().set("extra", std::string(deep, '[') + std::string(deep, ']')).text()), "accepted");
}

TEST(ModelConfig, ReadsTheShippedFiles) {
  const auto large = load_model(shipped("decoder-135m") / "config.json");
  ASSERT_TRUE(large) << large.error().text;
  EXPECT_EQ(weights_of(large->config, "bf16")->parameters, 134515008);
  EXPECT_EQ(large->source.name, "decoder-135m");
  EXPECT_EQ(large->source.sha256.size(), 64u);
  const auto tiny = load_model(shipped("decoder-tiny"));
  ASSERT_TRUE(tiny) << tiny.error().text;
  EXPECT_EQ(tiny->source.name, "decoder-tiny") << "a folder stands for the config.json in it";
  EXPECT_NE(tiny->source.sha256, large->source.sha256);
  EXPECT_EQ(tiny->config.sliding_window, 6);
  // 2 x (97x48) = 9,312; a layer: 96 + 2x(48x48) + 2x(16x48) + 3x(80x48) = 17,760; norm 48.
  EXPECT_EQ(weights_of(tiny->config, "f32")->parameters, 9312 + 3 * 17760 + 48);
  const auto billion = load_model(shipped("decoder-1b"));
  ASSERT_TRUE(billion) << billion.error().text;
  EXPECT_EQ(weights_of(billion->config, "bf16")->parameters, 1235814400);
}

TEST(ModelConfig, AMissingFileAndAFolderWithoutOneAreNamed) {
  const auto missing = load_model("/nowhere/at/all/config.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
  EXPECT_NE(missing.error().text.find("/nowhere/at/all/config.json"), std::string::npos) << missing.error().text;
  const auto empty = load_model(shipped("."));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().text.find("config.json"), std::string::npos) << empty.error().text;
}

}  // namespace
}  // namespace assay::model
