// SPDX-License-Identifier: Apache-2.0
// The guarded parser: what it refuses, where it says the fault is, and that depth costs no stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "results-schema/json/json.hpp"

namespace assay::json {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto value = parse(text, "x.json");
  if (value) return "accepted";
  EXPECT_EQ(value.error().code, ErrorCode::bad_input);
  EXPECT_EQ(value.error().text.find('\n'), std::string::npos) << value.error().text;
  return value.error().text;
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonParse, TakesWhatJsonIs) {
  const auto value = parse(R"( {"b": [1, -2, 2.5e3, true, false, null, "é\u20ac\n"], "a": {"": {}}} )", "x.json");
  ASSERT_TRUE(value) << value.error().text;
  EXPECT_EQ(value->dump(), R"({"b":[1,-2,2500.0,true,false,null,"é€\n"],"a":{"":{}}})");
  for (const char* scalar : {"1", "\"a\"", "null", "true", "-0.0", "1e-400"}) EXPECT_TRUE(parse(scalar, "x")) << scalar;
}

TEST(JsonParse, IntegersOf64BitsAreKeptAndLargerOnesRefused) {
  EXPECT_EQ(parse("18446744073709551615", "x")->get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(parse("-9223372036854775808", "x")->get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_THAT(refusal("18446744073709551616"), HasSubstr("64 bits"));
  EXPECT_THAT(refusal("[-9223372036854775809]"), HasSubstr("64 bits"));
  EXPECT_THAT(refusal("1" + std::string(400, '0')), HasSubstr("x.json"));
}

TEST(JsonParse, NumbersThatAreNotFiniteAreRefused) {
  for (const char* text : {"NaN", "[1, NaN]", "{\"a\": Infinity}", "[-Infinity]", "[nan]", "[inf]", "-NaN"})
    EXPECT_THAT(refusal(text), HasSubstr("NaN and Infinity are not JSON numbers")) << text;
  EXPECT_THAT(refusal("[1e999]"), HasSubstr("x.json, line 1"));
  EXPECT_THAT(refusal("[-1e999]"), HasSubstr("x.json, line 1"));
}

TEST(JsonParse, DuplicateKeysAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal("{\"a\": 1,\n  \"a\": 2}"),
            "x.json, line 2, column 5: the key \"a\" appears twice in one object; correct that place and try again");
  EXPECT_THAT(refusal(R"({"a": {"b": 1, "b": 1}})"), HasSubstr("\"b\" appears twice"));
  EXPECT_THAT(refusal(R"({"a": 1, "\u0061": 2})"), HasSubstr("twice"));
  EXPECT_TRUE(parse(R"({"a": {"a": [{"a": 1}, {"a": 2}]}})", "x"));
}

TEST(JsonParse, DepthIsBoundedWithoutStack) {
  EXPECT_TRUE(parse(nested(kMaxDepth), "x"));
  EXPECT_THAT(refusal(nested(kMaxDepth + 1)), HasSubstr("deeper than 64 levels"));
  EXPECT_THAT(refusal(nested(1'000'000)), HasSubstr("line 1, column 65"));
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("deeper"));
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(refusal(objects), HasSubstr("deeper"));
}

TEST(JsonParse, ManyMembersTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  const std::clock_t start = std::clock();  // of the processor: a busy machine changes nothing
  const auto value = parse(text + "}", "x");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 200'000U);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20.0);  // quadratic: minutes
}

TEST(JsonParse, WhatIsNotJsonIsRefused) {
  for (const char* text :
       {"",   " ",  "{",   "[1,]",   "{\"a\":1,}", "{a:1}",       "'a'",     "[1] x", "{}{}",  "01",       "1.",
        "+1", ".5", "tru", "\"\t\"", "\"\\x\"",    "\"\\ud800\"", "// c\n1", "\"abc", "[1 2]", "\xff\xfe", "nul\0l"})
    EXPECT_THAT(refusal(text), HasSubstr("x.json, line ")) << text;
  EXPECT_THAT(refusal(std::string_view("[1]\0", 4)), HasSubstr("line 1"));
}

TEST(JsonParse, BytesThatAreNotUtf8AreRefusedAndNotEchoed) {
  for (const char* text :
       {"\"\xff\"", "\"\xc3\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xc0\xaf\""}) {
    const std::string error = refusal(text);
    EXPECT_THAT(error, HasSubstr("UTF-8")) << error;
    for (const char c : error) EXPECT_TRUE(c >= ' ' && c < '\x7f');
  }
}

TEST(JsonParse, FilesThatCannotBeReadAreNamed) {
  const auto folder = std::filesystem::temp_directory_path();
  EXPECT_THAT(read_file(folder / "no-such-file-of-assay").error().text, HasSubstr("No such file"));
  EXPECT_THAT(read_file(folder).error().text, HasSubstr("is a folder"));
  const auto file = folder / ("assay-read-" + std::to_string(::getpid()));
  std::ofstream(file) << "12345";
  EXPECT_EQ(*read_file(file), "12345");
  EXPECT_EQ(*read_file(file, 5), "12345");
  EXPECT_THAT(read_file(file, 4).error().text, HasSubstr("larger than 4 bytes"));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::json
