// SPDX-License-Identifier: Apache-2.0
// The executed workload's estimate against closed formulas worked out by hand, for five configurations.
#include "tests/unit/estimate_support.hpp"

namespace assay {
namespace {

struct Shape {
  const char* name;
  std::int64_t hidden, inner, layers, heads, kv_heads, head_dim, vocabulary;
  bool tied;
  KvKind kv;
  std::int64_t batch, prompt, decode;
};

constexpr Shape kShapes[] = {{"grouped", 64, 160, 3, 8, 2, 8, 300, false, KvKind::fixed, 2, 17, 5},
                             {"multi_query", 48, 96, 2, 6, 1, 8, 200, false, KvKind::fixed, 1, 31, 4},
                             {"tied", 32, 128, 4, 4, 4, 8, 500, true, KvKind::fixed, 3, 9, 2},
                             {"static_cache", 64, 256, 1, 4, 2, 16, 100, true, KvKind::fixed, 1, 5, 40},
                             {"growing_cache", 64, 160, 2, 4, 2, 16, 100, false, KvKind::growing, 2, 12, 7}};

std::int64_t line(const estimate::ModelEstimate& e, std::string_view name) {
  for (const auto& item : e.executed)
    if (item.name == name) return item.bytes.value.value_or(-1);
  return -2;
}

TEST(Executed, EqualsTheClosedFormulas) {
  for (const auto& s : kShapes) {
    const auto config = nlohmann::json{
        {"model_type", "llama"},         {"hidden_size", s.hidden},        {"intermediate_size", s.inner},
        {"num_hidden_layers", s.layers}, {"num_attention_heads", s.heads}, {"num_key_value_heads", s.kv_heads},
        {"head_dim", s.head_dim},        {"vocab_size", s.vocabulary},     {"max_position_embeddings", 4096},
        {"tie_word_embeddings", s.tied}, {"torch_dtype", "bfloat16"}};
    auto request = test::request_for(s.prompt + s.decode, s.batch);
    request.prompt_tokens = s.prompt;
    request.decode_tokens = s.decode;
    request.kv = s.kv;
    const auto e = test::estimate_config(config.dump(), request);
    const std::int64_t q = s.heads * s.head_dim;
    const std::int64_t kv = s.kv_heads * s.head_dim;
    const std::int64_t weights =
        2 * (s.vocabulary * s.hidden * (s.tied ? 1 : 2) + s.hidden +
             s.layers * (2 * s.hidden + 2 * s.hidden * q + 2 * s.hidden * kv + 3 * s.hidden * s.inner));
    EXPECT_EQ(line(e, "weights_bytes"), weights) << s.name;
    EXPECT_EQ(e.base.resident_bytes.value, weights) << s.name;
    EXPECT_EQ(e.base.parameters.value, weights / 2) << s.name;
    // While the gated product is made: the residual stream, gate, up and their product.
    const auto widest = s.hidden + 3 * s.inner;
    EXPECT_EQ(line(e, "prefill.activation_peak_bytes"), s.batch * s.prompt * widest * 2) << s.name;
    EXPECT_EQ(line(e, "decode.activation_peak_bytes"), s.batch * widest * 2) << s.name;
    // Every token but the last generated one has been through the layers; a static cache holds room for all.
    const auto whole = s.batch * (s.prompt + s.decode) * 2 * s.layers * kv * 2;
    EXPECT_EQ(line(e, "decode.kv_bytes"), whole) << s.name;
    EXPECT_EQ(e.base.kv_bytes.value, whole) << s.name;
    const auto copy = s.kv == KvKind::growing ? s.batch * (s.prompt + s.decode - 1) * kv * 2 : 0;
    EXPECT_EQ(line(e, "decode.kv_peak_bytes"), whole + copy) << s.name;
    EXPECT_EQ(line(e, "inputs_bytes"), s.batch * (2 * s.prompt + s.decode) * 4) << s.name;
    EXPECT_EQ(line(e, "output_bytes"), s.batch * ((s.decode + 1) * 4 + s.vocabulary * 2)) << s.name;
  }
}

TEST(Executed, SaysWhyAModelIsNotExecuted) {
  auto request = test::request_for(8);
  request.prompt_tokens = 8;
  const auto e = test::estimate_config(
      R"({"model_type":"mixtral","hidden_size":64,"intermediate_size":64,"num_hidden_layers":1,"num_attention_heads":4,)"
      R"("vocab_size":32,"num_local_experts":4})",
      request);
  ASSERT_EQ(e.executed.size(), 1U);
  EXPECT_FALSE(e.executed[0].bytes.value);
  EXPECT_THAT(e.executed[0].bytes.reason, ::testing::HasSubstr("mixture of experts"));
}

}  // namespace
}  // namespace assay
