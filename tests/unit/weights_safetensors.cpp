// SPDX-License-Identifier: Apache-2.0
// safetensors headers and indexes: every dtype by its size, every rule of the format by a file that breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/weights/index.hpp"
#include "suite/weights/safetensors.hpp"
#include "tests/support/weight_files.hpp"

namespace assay {
namespace {

using test::little_endian;
using test::safetensors_header;
using test::safetensors_with;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Sized {
  const char* dtype;
  int bits;
};

// The bits of each dtype as the format's reference implementation states them.
constexpr Sized kTypes[] = {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
                            {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
                            {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
                            {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
                            {"I64", 64},        {"U64", 64}};

TEST(Safetensors, EveryDtypeTakesItsBits) {
  for (const auto& type : kTypes) {
    weights::TensorTable table;
    const auto file = safetensors_header({{"w", type.dtype, {8, 3}, 3 * type.bits}});
    const auto facts = weights::read_safetensors(file, "w.safetensors", 0, true, table);
    ASSERT_TRUE(facts) << type.dtype << ": " << facts.error().text;
    EXPECT_EQ(facts->tensor_bytes, 3 * type.bits) << type.dtype;
    EXPECT_EQ(table.all()[0].elements, 24);
    EXPECT_TRUE(facts->data_missing);
  }
}

TEST(Safetensors, ScalarsZeroExtentsAndPaddingAreLegal) {
  weights::TensorTable table;
  const auto file =
      safetensors_header({{"scalar", "F32", {}, 4}, {"none", "F16", {0, 7}, 0}, {"one", "I8", {1}, 1}}, 5) +
      std::string(5, 'x');
  const auto facts = weights::read_safetensors(file, "a", 0, true, table);
  ASSERT_TRUE(facts) << facts.error().text;
  EXPECT_FALSE(facts->data_missing);
  EXPECT_EQ(facts->file_bytes, facts->header_bytes + 5);
  EXPECT_EQ(table.find("scalar")->elements, 1);
  EXPECT_EQ(table.find("none")->elements, 0);
}

TEST(Safetensors, MetadataMayBeEmptyOrMissing) {
  for (const char* header :
       {R"({"__metadata__":{}})", "{}", R"(  {"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}  )"}) {
    weights::TensorTable table;
    EXPECT_TRUE(weights::read_safetensors(safetensors_with(header), "a", 0, true, table)) << header;
  }
}

struct Bad {
  const char* name;
  std::string file;
  const char* says;
  std::string byte;  // where, empty: not asked
};

std::string one(const std::string& member, const std::string& data = "") {
  return safetensors_with(R"({"t":{)" + member + "}}", data);
}

std::vector<Bad> bad_files() {
  const std::string good = R"("dtype":"U8","shape":[4],"data_offsets":[0,4])";
  std::vector<Bad> out{
      {"short", "abc", "shorter than the 8 bytes", "3"},
      {"length_zero", little_endian(0, 8) + "{}", "length is 0", "0"},
      {"length_beyond_file", little_endian(100, 8) + "{}", "more than the 2 bytes", "0"},
      {"length_wraps", little_endian(~0ULL, 8) + "{}", "above the format's", "0"},
      {"length_wraps_by_eight", little_endian(~0ULL - 7, 8) + "{}", "above the format's", "0"},
      {"header_too_long", little_endian(100'000'001, 8) + "{}", "100,000,000", "0"},
      {"not_an_object", safetensors_with("[]"), "not a JSON object", "8"},
      {"blank", safetensors_with("   "), "not a JSON object", ""},
      {"bad_utf8", safetensors_with("{\"\xff\":{}}"), "valid JSON", ""},
      {"cut_json", safetensors_with(R"({"t":)"), "valid JSON", ""},
      {"two_values", safetensors_with("{} {}"), "valid JSON", ""},
      {"deep", safetensors_with(R"({"t":)" + std::string(100000, '[')), "array stands where", "13"},
      {"deep_objects", safetensors_with(R"({"t":{"shape":{"shape":{)"), "object stands where", ""},
      {"null_tensor", safetensors_with(R"({"t":null})"), "null stands", ""},
      {"text_tensor", safetensors_with(R"({"t":"x"})"), "text stands", ""},
      {"number_tensor", safetensors_with(R"({"t":3})"), "number stands", ""},
      {"unknown_member", one(good + R"(,"x":1)"), "unknown member", ""},
      {"negative_offset", one(R"("dtype":"U8","shape":[4],"data_offsets":[-4,0])"), "negative", ""},
      {"float_offset", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4.0])"), "whole number", ""},
      {"exponent_offset", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4e0])"), "whole number", ""},
      {"huge_offset", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551615])"), "too large", ""},
      {"beyond_64_bits", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,99999999999999999999])"), "whole number",
       ""},
      {"end_before_begin", one(R"("dtype":"U8","shape":[4],"data_offsets":[4,0])"), "before it begins", ""},
      {"wrong_size", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,5])", "12345"), "need 4", ""},
      {"one_offset", one(R"("dtype":"U8","shape":[4],"data_offsets":[0])"), "two numbers", ""},
      {"three_offsets", one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4,8])"), "more than two", ""},
      {"no_dtype", one(R"("shape":[4],"data_offsets":[0,4])"), "lacks its dtype", ""},
      {"no_shape", one(R"("dtype":"U8","data_offsets":[0,4])"), "lacks its shape", ""},
      {"no_offsets", one(R"("dtype":"U8","shape":[4])"), "lacks its data_offsets", ""},
      {"two_dtypes", one(R"("dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4])"), "text stands", ""},
      {"two_shapes", one(R"("dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4])"), "array stands", ""},
      {"unknown_dtype", one(R"("dtype":"F5","shape":[4],"data_offsets":[0,4])"), "unknown dtype", ""},
      {"half_a_byte", one(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), "whole number of bytes", ""},
      {"six_bits_half", one(R"("dtype":"F6_E2M3","shape":[2],"data_offsets":[0,2])"), "whole number of bytes", ""},
      {"extent_beyond_2_48", one(R"("dtype":"U8","shape":[281474976710656],"data_offsets":[0,4])"), "2^48", ""},
      {"product_overflows", one(R"("dtype":"U8","shape":[281474976710655,281474976710655],"data_offsets":[0,4])"),
       "multiply beyond", ""},
      {"bytes_overflow", one(R"("dtype":"F64","shape":[281474976710655,32768],"data_offsets":[0,4])"), "below 2^63",
       ""},
      {"metadata_number", safetensors_with(R"({"__metadata__":{"a":1}})"), "number stands", ""},
      {"metadata_list", safetensors_with(R"({"__metadata__":["a"]})"), "array stands", ""},
      {"metadata_twice", safetensors_with(R"({"__metadata__":{},"__metadata__":{}})"), "stands twice", ""},
      {"name_twice", safetensors_with("{\"t\":{" + good + "},\"t\":{" + good + "}}"), "stands twice", ""},
      {"gap", safetensors_with(R"({"t":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", "12345"), "gap", ""},
      {"hole", safetensors_with("{\"a\":{" + good + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})"), "gap",
       ""},
      {"overlap", safetensors_with("{\"a\":{" + good + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})"),
       "overlap", ""},
      {"trailing", one(good, "12345"), "1 bytes follow", ""},
      {"cut_data", one(good, "123"), "cut off", ""}};
  return out;
}

class BadSafetensors : public ::testing::TestWithParam<Bad> {};

TEST_P(BadSafetensors, IsOneSentenceWithTheByte) {
  weights::TensorTable table;
  const auto read = weights::read_safetensors(GetParam().file, "bad.safetensors", 0, true, table);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_THAT(read.error().text, AllOf(HasSubstr("bad.safetensors is refused at byte "), HasSubstr(GetParam().says),
                                       Not(HasSubstr("\n"))));
  if (!GetParam().byte.empty()) {
    EXPECT_THAT(read.error().text, HasSubstr("at byte " + GetParam().byte + ":"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, BadSafetensors, ::testing::ValuesIn(bad_files()),
                         [](const auto& bad) { return std::string(bad.param.name); });

TEST(Safetensors, ACutFileIsReadWhenOnlyHeadersWereFetched) {
  weights::TensorTable table;
  const auto file = one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4])", "123");
  const auto read = weights::read_safetensors(file, "a", 0, false, table);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->data_missing);
  EXPECT_EQ(read->declared_bytes, read->header_bytes + 4);
}

TEST(Index, NamesShardsOnceAndTakesNoTotalForGranted) {
  weights::TensorTable names;
  const auto index = weights::read_index(
      R"({"metadata":{"total_size":0,"x":[{"total_size":7}]},"weight_map":{"a":"m-1.safetensors","b":"m-1.safetensors"},"z":{"weight_map":{"c":"d"}}})",
      "i", names);
  ASSERT_TRUE(index) << index.error().text;
  EXPECT_EQ(index->shards.size(), 1U);
  EXPECT_EQ(index->entries.size(), 2U);
  EXPECT_EQ(index->total_bytes, 0);
  EXPECT_FALSE(weights::read_index(R"({"metadata":{},"weight_map":{}})", "i", names));
}

TEST(Index, RefusesNamesThatLeaveTheFolder) {
  for (const char* shard : {"/etc/passwd", "../a.safetensors", "a/../../b", "sub/a.safetensors", "..", "", "a\\\\b"}) {
    weights::TensorTable names;
    const auto read = weights::read_index(std::string(R"({"weight_map":{"a":")") + shard + "\"}}", "i.json", names);
    ASSERT_FALSE(read) << shard;
    EXPECT_THAT(read.error().text, AllOf(HasSubstr("i.json is refused at byte "), Not(HasSubstr("\n"))));
  }
}

TEST(Index, RefusesWhatIsNoTable) {
  for (const char* text :
       {"[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})", R"({"weight_map":{"a":{}}})",
        R"({"weight_map":null})", R"({"weight_map":{"a":"x","a":"x"}})",
        R"({"weight_map":{"a":"x"},"weight_map":{"b":"x"}})", R"({"weight_map":{"a":"x"})", "7"}) {
    weights::TensorTable names;
    EXPECT_FALSE(weights::read_index(text, "i.json", names)) << text;
  }
  weights::TensorTable names;
  EXPECT_FALSE(weights::read_index(R"({"x":)" + std::string(100000, '['), "i.json", names));
}

}  // namespace
}  // namespace assay
