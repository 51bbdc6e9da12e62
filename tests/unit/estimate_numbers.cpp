// SPDX-License-Identifier: Apache-2.0
// Estimates: the figures worked out by hand, the bounds, the reserve that never enters a need, and overflow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suite/estimate/estimate.hpp"
#include "suite/estimate/print.hpp"

namespace {

using namespace assay;
using estimate::Request;
using testing::HasSubstr;
using testing::Not;

estimate::Estimate of(const Request& request) {
  auto result = estimate::estimate(request);
  EXPECT_TRUE(result) << (result ? "" : result.error().text);
  return result ? *result : estimate::Estimate{};
}

Request weights_only(std::int64_t parameters, std::int64_t bits) {
  Request request;
  request.parameters = parameters;
  request.bits = bits;
  return request;
}

Request cache(std::int64_t sequences) {
  Request request;
  request.layers = 32;
  request.kv_heads = 8;
  request.head_dim = 128;
  request.tokens = 8192;
  request.sequences = sequences;
  return request;
}

TEST(Estimate, SevenBillionParametersInSixteenBits) {
  auto request = weights_only(7'000'000'000, 16);
  request.reserve_bytes = 4LL << 30;
  const auto result = of(request);
  EXPECT_EQ(result.resident_bytes.value, 14'000'000'000);
  EXPECT_EQ(result.total_bytes.value, 14'000'000'000);  // the reserve is not part of it
  EXPECT_EQ(result.total_with_reserve_bytes->value, 18'294'967'296);
  const auto text = estimate::to_text(result);
  EXPECT_THAT(text, HasSubstr("14000000000 bytes = 14.00 GB = 13.04 GiB"));
  EXPECT_THAT(text, HasSubstr("7000000000 x 16 / 8"));
  EXPECT_THAT(text, HasSubstr("17.04 GiB"));
  EXPECT_THAT(text, HasSubstr("lower bound"));
  request.reserve_bytes = 4'000'000'000;
  EXPECT_THAT(estimate::to_text(of(request)), HasSubstr("18000000000 bytes = 18.00 GB"));
}

TEST(Estimate, ThirteenBillionParametersInSixteenBits) {
  EXPECT_THAT(estimate::to_text(of(weights_only(13'000'000'000, 16))), HasSubstr("24.21 GiB"));
}

TEST(Estimate, OddBitsRoundUpToAByte) {
  EXPECT_EQ(of(weights_only(3, 4)).resident_bytes.value, 2);
  EXPECT_EQ(of(weights_only(9, 1)).resident_bytes.value, 2);
  EXPECT_EQ(of(weights_only(16, 3)).resident_bytes.value, 6);
}

TEST(Estimate, KeyValueCacheOfOneAndFourSequences) {
  const auto one = of(cache(1));
  EXPECT_EQ(one.kv_bytes_per_token.value, 131'072);
  EXPECT_EQ(one.kv_bytes.value, 1'073'741'824);
  EXPECT_EQ(of(cache(4)).kv_bytes.value, 4LL << 30);
  EXPECT_THAT(estimate::to_text(of(cache(4))), HasSubstr("4.00 GiB"));
  EXPECT_FALSE(one.resident_bytes.value);
  EXPECT_EQ(one.total_bytes.value, 1'073'741'824);
}

TEST(Estimate, ASlidingWindowHasTwoBoundsAndTheTotalTakesTheLarger) {
  Request request;
  DecoderConfig config;
  config.layers = 2;
  config.kv_heads = 1;
  config.head_dim = 4;
  config.sliding_window = 100;
  request.model = config;
  request.model_name = "windowed";
  request.model_parameters = 1000;
  request.tokens = 1000;
  const auto result = of(request);
  ASSERT_EQ(result.kv_bounds.size(), 2U);
  EXPECT_EQ(result.kv_bytes_per_token.value, 32);
  EXPECT_EQ(result.kv_bounds[0].bytes_per_sequence.value, 32'000);
  EXPECT_EQ(result.kv_bounds[1].bytes_per_sequence.value, 3'200);
  EXPECT_EQ(result.kv_bytes.value, 32'000);
  EXPECT_EQ(result.total_bytes.value, 34'000);
}

TEST(Estimate, WithoutTokensTheCacheIsUnknownNotZero) {
  Request request;
  DecoderConfig config;
  config.layers = config.kv_heads = config.head_dim = 2;
  config.max_positions = 1 << 20;
  request.model = config;
  request.model_parameters = 10;
  const auto result = of(request);
  EXPECT_FALSE(result.kv_bytes.value);
  EXPECT_THAT(result.kv_bytes.reason, HasSubstr("--tokens"));
  EXPECT_THAT(result.not_included, testing::Contains("the key-value cache"));
}

TEST(Estimate, RefusesWhatItCannotCompute) {
  EXPECT_THAT(estimate::estimate({}).error().text, HasSubstr("nothing to estimate"));
  Request request;
  request.layers = 32;
  const auto error = estimate::estimate(request).error();
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_THAT(error.text, HasSubstr("--kv-heads, --head-dim, --tokens"));
}

TEST(Estimate, OverflowIsOneSentence) {
  constexpr std::int64_t kLargest = (1LL << 53) - 1;
  const auto check = [](const Request& request) {
    auto result = estimate::estimate(request);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::usage);
    EXPECT_THAT(result.error().text, HasSubstr("exceeds 2^53 - 1"));
  };
  check(weights_only(kLargest, 16));
  check(weights_only(kLargest, 64));
  auto wide = cache(1);
  wide.layers = kLargest;
  check(wide);
  wide = cache(kLargest);
  check(wide);
  auto sum = weights_only(kLargest, 8);
  sum.reserve_bytes = 1;
  check(sum);
  EXPECT_EQ(of(weights_only(kLargest, 8)).total_bytes.value, kLargest);
}

TEST(Estimate, JsonHasTheKeysProgramsRelyOn) {
  auto request = cache(4);
  request.parameters = 7'000'000'000;
  request.reserve_bytes = 1;
  const auto json = nlohmann::json::parse(estimate::to_json(of(request)));
  EXPECT_FALSE(json.contains("schema"));  // an answer on a screen, not a document of the schema
  EXPECT_EQ(json.at("parameters"), 7'000'000'000);
  EXPECT_TRUE(json.at("weights").at("file_bytes").is_null());
  EXPECT_EQ(json.at("weights").at("tensor_bytes"), 14'000'000'000);
  EXPECT_EQ(json.at("weights").at("resident_bytes"), 14'000'000'000);
  EXPECT_EQ(json.at("kv_cache").at("bytes_per_token"), 131'072);
  EXPECT_EQ(json.at("kv_cache").at("bytes"), 4LL << 30);
  EXPECT_EQ(json.at("kv_cache").at("bounds").at(0).at("bytes_per_sequence"), 1LL << 30);
  EXPECT_EQ(json.at("kv_cache").at("bounds").at(0).at("bytes_per_token"), 131'072);
  EXPECT_EQ(json.at("total_bytes"), 14'000'000'000 + (4LL << 30));
  EXPECT_EQ(json.at("reserve_bytes"), 1);
  EXPECT_EQ(json.at("basis").at("reserve_bytes"), "assumed");
  EXPECT_EQ(json.at("formula").at("total_bytes"), "weights.resident_bytes + kv_cache.bytes");
  EXPECT_EQ(json.at("weights").at("formula").at("resident_bytes").is_string(), true);
  EXPECT_EQ(json.at("weights").at("reason").at("file_bytes"), "no weight file was read");
}

}  // namespace
