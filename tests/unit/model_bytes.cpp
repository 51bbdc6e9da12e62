// SPDX-License-Identifier: Apache-2.0
// Bytes of weights and caches against totals worked out by hand, the tensor list's order, and overflow.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "suite/model/bytes.hpp"
#include "suite/model/config.hpp"

namespace assay::model {
namespace {

DecoderConfig decoder(std::int64_t hidden, std::int64_t inner, std::int64_t layers, std::int64_t heads,
                      std::int64_t kv_heads, std::int64_t head_dim, std::int64_t vocabulary) {
  DecoderConfig config;
  config.hidden_size = hidden;
  config.intermediate_size = inner;
  config.layers = layers;
  config.query_heads = heads;
  config.kv_heads = kv_heads;
  config.head_dim = head_dim;
  config.vocabulary = vocabulary;
  config.max_positions = 4096;
  config.model_type = "llama";
  return config;
}

void expect_bytes(const DecoderConfig& config, std::int64_t parameters, std::int64_t kv_of_token_16_bit) {
  const auto half = weights_of(config, "bf16");
  ASSERT_TRUE(half) << half.error().text;
  EXPECT_EQ(half->parameters, parameters);
  EXPECT_EQ(half->bytes, 2 * parameters);
  EXPECT_EQ(weights_of(config, "f32")->bytes, 4 * parameters);
  EXPECT_EQ(*bytes_per_token(config, "f16"), kv_of_token_16_bit);
  EXPECT_EQ(*bytes_per_token(config, "f32"), 2 * kv_of_token_16_bit);
}

// 49152x576 = 28,311,552; a layer: 2x576 + 2x(576x576) + 2x(192x576) + 3x(1536x576) = 3,540,096; norm 576.
// 28,311,552 + 30 x 3,540,096 + 576 = 134,515,008. Cache: 2 x 30 x 3 x 64 x 2 = 23,040.
TEST(ModelBytes, TiedDecoderOf135Million) {
  auto config = decoder(576, 1536, 30, 9, 3, 64, 49152);
  config.tied_embeddings = true;
  expect_bytes(config, 134515008, 23040);
}

// 128256x3072 = 394,002,432; a layer: 6,144 + 2x(3072x3072) + 2x(1024x3072) + 3x(8192x3072) = 100,669,440; norm 3,072.
// 394,002,432 + 28 x 100,669,440 + 3,072 = 3,212,749,824. Cache: 2 x 28 x 8 x 128 x 2 = 114,688.
TEST(ModelBytes, TiedDecoderOfThreeBillion) {
  auto config = decoder(3072, 8192, 28, 24, 8, 128, 128256);
  config.tied_embeddings = true;
  expect_bytes(config, 3212749824, 114688);
}

// head_dim 128 is not 5120 / 32. 2 x (131072x5120) = 1,342,177,280; a layer: 10,240 + 2x(4096x5120) + 2x(1024x5120) +
// 3x(32768x5120) = 555,755,520; norm 5,120. Total 23,572,403,200. Cache: 2 x 40 x 8 x 128 x 2 = 163,840.
TEST(ModelBytes, UntiedDecoderWithItsOwnHeadDimension) {
  auto config = decoder(5120, 32768, 40, 32, 8, 128, 131072);
  config.model_type = "mistral";
  expect_bytes(config, 23572403200, 163840);
}

// Biases on query, key and value. 151936x896 = 136,134,656; a layer: 1,792 + 2x(896x896) + 896 + 2x(128x896 + 128) +
// 3x(4864x896) = 14,912,384; norm 896. Total 494,032,768. Cache: 2 x 24 x 2 x 64 x 2 = 12,288.
TEST(ModelBytes, Qwen2HasBiasesOnQueryKeyAndValueOnly) {
  auto config = decoder(896, 4864, 24, 14, 2, 64, 151936);
  config.model_type = "qwen2";
  config.tied_embeddings = true;
  config.attention_bias = true;
  expect_bytes(config, 494032768, 12288);
  config.model_type = "llama";  // one more bias, of 896 elements in each of 24 layers
  expect_bytes(config, 494032768 + 24 * 896, 12288);
}

TEST(ModelBytes, TheListNamesEachTensorOnceAndTheTiedHeadNever) {
  auto config = decoder(8, 16, 2, 2, 1, 4, 10);
  const auto untied = *weights_of(config, "f32");
  ASSERT_EQ(untied.tensors.size(), 3u + 2u * 9u);
  EXPECT_EQ(untied.tensors.front().name, "model.embed_tokens.weight");
  EXPECT_EQ(untied.tensors.back().name, "lm_head.weight");
  std::set<std::string> names;
  std::int64_t bytes = 0;
  for (const auto& tensor : untied.tensors) {
    names.insert(tensor.name);
    std::int64_t elements = 1;
    for (const auto extent : tensor.shape) elements *= extent;
    EXPECT_EQ(tensor.elements, elements) << tensor.name;
    EXPECT_EQ(tensor.bytes, 4 * elements) << tensor.name;
    bytes += tensor.bytes;
  }
  EXPECT_EQ(names.size(), untied.tensors.size());
  EXPECT_EQ(bytes, untied.bytes);
  const auto key = std::find_if(untied.tensors.begin(), untied.tensors.end(),
                                [](const auto& t) { return t.role == Role::key && t.layer == 1; });
  ASSERT_NE(key, untied.tensors.end());
  EXPECT_EQ(key->name, "model.layers.1.self_attn.k_proj.weight");
  EXPECT_EQ(key->shape, (std::vector<std::int64_t>{4, 8}));
  config.tied_embeddings = true;
  const auto tied = *weights_of(config, "f32");
  EXPECT_EQ(tied.bytes, untied.bytes - 10 * 8 * 4);
  EXPECT_EQ(names.count("lm_head.weight"), 1u);
  for (const auto& tensor : tied.tensors) EXPECT_NE(tensor.name, "lm_head.weight");
}

TEST(ModelBytes, CacheOfEachKind) {
  auto config = decoder(4096, 14336, 32, 32, 8, 128, 128256);
  EXPECT_EQ(*kv_bytes(config, KvKind::fixed, 1, 8192, "f16"), 1073741824);
  EXPECT_EQ(*kv_bytes(config, KvKind::growing, 4, 8192, "bf16"), std::int64_t{4} << 30);
  const auto refused = kv_bytes(config, KvKind::sliding_window, 1, 8192, "f16");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  config.sliding_window = 1024;
  EXPECT_EQ(*kv_bytes(config, KvKind::sliding_window, 1, 8192, "f16"), 134217728);
  EXPECT_EQ(*kv_slots(config, KvKind::sliding_window, 100), 100) << "a ring larger than the sequence is never filled";
  EXPECT_EQ(*kv_bytes(config, KvKind::fixed, 1, 8192, "f16"), 1073741824) << "a static cache keeps every token";
}

TEST(ModelBytes, DenseNetwork) {
  const auto list = *dense_weights_of(64, 3, "f32");
  EXPECT_EQ(list.tensors.size(), 6u);
  EXPECT_EQ(list.bytes, 3 * (64 * 64 + 64) * 4);
}

TEST(ModelBytes, OverflowAndUnknownNamesAreErrors) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(weights_of(decoder(kHuge, 1, 1, 1, 1, 2, kHuge), "f32").error().code, ErrorCode::bad_input);
  EXPECT_EQ(weights_of(decoder(2, 2, 1, kHuge, 1, kHuge, 2), "f32").error().code, ErrorCode::bad_input);
  EXPECT_EQ(kv_bytes(decoder(8, 8, 1, 2, 1, 4, 8), KvKind::fixed, kHuge, kHuge, "f32").error().code,
            ErrorCode::bad_input);
  EXPECT_EQ(dense_weights_of(kHuge, 1, "f32").error().code, ErrorCode::bad_input);
  EXPECT_EQ(dense_weights_of(1, kMaxInteger, "f32").error().code, ErrorCode::bad_input);
  EXPECT_EQ(dtype_bytes("fp8").error().code, ErrorCode::usage);
  EXPECT_FALSE(checked_multiply(3, std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(checked_add(kMaxInteger, 1));
  EXPECT_EQ(checked_add(kMaxInteger - 1, 1), kMaxInteger);
}

TEST(ModelDimensions, GivenNumbersAreCompletedAndChecked) {
  auto given = decoder(576, 1536, 30, 9, 0, 0, 49152);
  const auto completed = from_dimensions(given, "the command line");
  ASSERT_TRUE(completed) << completed.error().text;
  EXPECT_EQ(completed->kv_heads, 9);
  EXPECT_EQ(completed->head_dim, 64);
  given.query_heads = 7;
  const auto refused = from_dimensions(given, "the command line");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("\"hidden_size\" is 576"), std::string::npos) << refused.error().text;
  given = decoder(576, 1536, 30, 9, 3, 64, 49152);
  given.norm_epsilon = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(from_dimensions(given, "the command line"));
}

}  // namespace
}  // namespace assay::model
