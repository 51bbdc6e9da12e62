// SPDX-License-Identifier: Apache-2.0
// GGUF headers: every tensor type by its block, both versions, every rule by a file that breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "suite/weights/gguf.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/weight_files.hpp"

namespace assay {
namespace {

using test::Gguf;
using test::little_endian;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<weights::GgufHeader> read(const std::string& file, bool whole = true) {
  weights::TensorTable table;
  return weights::read_gguf(file, "bad.gguf", 0, whole, table);
}

// id, elements of a block, bytes of a block: written down here from ggml.c, apart from the table of the reader.
struct Type {
  std::uint32_t id;
  std::int64_t elements;
  std::int64_t bytes;
};
constexpr Type kGgufTypes[] = {
    {0, 1, 4},      {1, 1, 2},     {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},
    {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {15, 256, 292},
    {16, 256, 66},  {17, 256, 74}, {18, 256, 98},  {19, 256, 50},  {20, 32, 18},   {21, 256, 110}, {22, 256, 82},
    {23, 256, 136}, {24, 1, 1},    {25, 1, 2},     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},     {29, 256, 56},
    {30, 1, 2},     {34, 256, 54}, {35, 256, 66},  {39, 32, 17},   {40, 64, 36},   {41, 128, 18},  {42, 64, 18}};

TEST(GgufHeader, EveryTypeTakesItsBlocks) {
  for (const auto version : {2U, 3U}) {
    for (const auto& type : kGgufTypes) {
      Gguf gguf(version);
      gguf.text("general.architecture", "llama").tensor("w", {512, 3}, type.id, 512 * 3 / type.elements * type.bytes);
      const auto header = read(gguf.padded() + std::string(static_cast<std::size_t>(gguf.data_bytes()), '\0'));
      ASSERT_TRUE(header) << type.id << ": " << header.error().text;
      EXPECT_EQ(header->facts.tensor_bytes, 512 * 3 / type.elements * type.bytes) << type.id;
      EXPECT_FALSE(header->facts.data_missing);
    }
  }
}

TEST(GgufHeader, TheSharedTableSaysTheSame) {
  const auto path = test::shared_data("ggml_types.json");
  if (!path) GTEST_SKIP() << "the shared data folder is absent";
  std::ifstream file(*path);
  const auto table = nlohmann::json::parse(file).at("types");
  EXPECT_EQ(table.size(), std::size(kGgufTypes));
  for (const auto& [id, entry] : table.items()) {
    const auto* type = weights::ggml_type(static_cast<std::uint32_t>(std::stoul(id)));
    ASSERT_NE(type, nullptr) << id;
    EXPECT_EQ(type->name, entry[0].get<std::string>());
    EXPECT_EQ(type->block_elements, entry[1].get<std::uint32_t>());
    EXPECT_EQ(type->block_bytes, entry[2].get<std::uint32_t>());
  }
}

TEST(GgufHeader, HeadersAloneVocabulariesAndUnpaddedEndsAreLegal) {
  Gguf gguf;
  gguf.tensor("a", {5}, 0, 20).tensor("b", {3}, 0, 12);
  EXPECT_TRUE(read(gguf.header()));
  EXPECT_TRUE(read(gguf.padded()));
  EXPECT_TRUE(read(gguf.padded() + std::string(32 + 12, '\0')));  // the last tensor without its padding
  EXPECT_TRUE(read(gguf.padded() + std::string(7, '\0'), false));
  EXPECT_TRUE(read(Gguf().text("general.architecture", "llama").header()));  // a vocabulary has no tensors
  const auto more = read(gguf.padded() + std::string(64 + 9, '\0'));
  ASSERT_TRUE(more);
  EXPECT_EQ(more->facts.trailing_bytes, 9);
}

TEST(GgufHeader, LongListsAreMeasuredAndNotKept) {
  std::string tokens = little_endian(8, 4) + little_endian(3, 8);
  for (const char* token : {"a", "bc", "def"}) tokens += little_endian(std::string(token).size(), 8) + token;
  Gguf gguf;
  gguf.entry("tokenizer.ggml.tokens", 9, tokens)
      .entry("tokenizer.ggml.scores", 9, little_endian(6, 4) + little_endian(2, 8) + std::string(8, '\0'))
      .list("llama.attention.head_count_kv", {8, 4})
      .u32("llama.block_count", 2);
  const auto header = read(gguf.header());
  ASSERT_TRUE(header) << header.error().text;
  EXPECT_EQ(header->values.at("tokenizer.ggml.tokens").count, 3U);
  EXPECT_TRUE(header->values.at("tokenizer.ggml.tokens").integers.empty());
  EXPECT_EQ(header->values.at("llama.attention.head_count_kv").integers, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(header->integer("llama.block_count"), 2);
}

struct BadGguf {
  const char* name;
  std::string file;
  const char* says;
};

std::vector<BadGguf> bad_gguf_files() {
  const auto raw = [](std::uint64_t tensors, std::uint64_t values, const std::string& rest) {
    return "GGUF" + little_endian(3, 4) + little_endian(tensors, 8) + little_endian(values, 8) + rest;
  };
  const auto big = std::string(64, '\0');
  const auto array = [](std::uint32_t type, std::uint64_t count) {
    return Gguf().entry("k", 9, little_endian(type, 4) + little_endian(count, 8) + std::string(16, '\0')).header();
  };
  std::vector<BadGguf> out{
      {"short", "GG", "cut off in the magic"},
      {"magic", "GGUG" + big, "does not begin with"},
      {"version_1", "GGUF" + little_endian(1, 4) + big, "version is 1"},
      {"version_4", "GGUF" + little_endian(4, 4) + big, "version is 4"},
      {"version_0", "GGUF" + little_endian(0, 4) + big, "version is 0"},
      {"big_endian", "GGUF" + little_endian(0x03000000, 4) + big, "byte order"},
      {"too_many_tensors", raw(1ULL << 60, 0, big), "tensors do not fit"},
      {"too_many_values", raw(0, ~0ULL, big), "metadata values do not fit"},
      {"cut_in_values", raw(0, 1, little_endian(1, 8) + "k" + little_endian(4, 4) + "abc"), "cut off"},
      {"empty_key", Gguf().u32("", 1).header(), "key is empty"},
      {"long_key", raw(0, 1, little_endian(70000, 8) + std::string(70100, 'k')), "metadata key has the length"},
      {"key_beyond_file", raw(0, 1, little_endian(~0ULL, 8) + big), "metadata key has the length"},
      {"key_twice", Gguf().u32("k", 1).u32("k", 2).header(), "stands twice"},
      {"unknown_value_type", Gguf().entry("k", 13, big).header(), "unknown type 13"},
      {"text_beyond_file", Gguf().entry("k", 8, little_endian(1ULL << 40, 8) + big).header(),
       "metadata text has the length"},
      {"boolean_2", Gguf().entry("k", 7, std::string(1, '\2')).header(), "boolean"},
      {"array_of_arrays", array(9, 1), "array holds arrays"},
      {"array_unknown_type", array(99, 1), "unknown element type"},
      {"array_too_long", array(0, 1ULL << 40), "does not fit"},
      {"array_of_texts_too_long", array(8, 1ULL << 29), "does not fit"},
      {"array_count_wraps", array(10, ~0ULL), "does not fit"},
      {"alignment_zero", Gguf().u32("general.alignment", 0).header(), "power of two"},
      {"alignment_odd", Gguf().u32("general.alignment", 24).header(), "power of two"},
      {"alignment_type", Gguf().entry("general.alignment", 10, little_endian(32, 8)).header(), "unsigned 32-bit"},
      {"long_name", Gguf().tensor(std::string(64, 'n'), {1}, 0, 4).header(), "tensor's name has the length"},
      {"name_twice", Gguf().tensor("a", {8}, 0, 32).tensor("a", {8}, 0, 32).header(), "stands twice"},
      {"five_extents", Gguf().tensor("a", {1, 1, 1, 1, 1}, 0, 4).header(), "5 extents"},
      {"negative_extent", Gguf().raw_tensor("a", {-1}, 0, 0, 4).header(), "negative"},
      {"product_overflows", Gguf().raw_tensor("a", {1LL << 40, 1LL << 40}, 0, 0, 4).header(), "multiply beyond"},
      {"bytes_overflow", Gguf().raw_tensor("a", {1LL << 62}, 28, 0, 4).header(), "do not fill"},
      {"half_a_block", Gguf().raw_tensor("a", {48}, 8, 0, 51).header(), "do not fill blocks of 32"},
      {"half_a_block_a_row", Gguf().raw_tensor("a", {16, 2}, 8, 0, 34).header(), "do not fill blocks of 32"},
      {"unknown_type", Gguf().raw_tensor("a", {32}, 43, 0, 4).header(), "unknown type 43"},
      {"offset_not_zero", Gguf().raw_tensor("a", {8}, 0, 32, 32).header(), "begins at 32"},
      {"offset_not_padded", Gguf().tensor("a", {5}, 0, 20).raw_tensor("b", {5}, 0, 20, 20).header(),
       "where 32 is expected"},
      {"sum_overflows",
       Gguf()
           .raw_tensor("a", {(1LL << 62) - 64}, 24, 0, (1LL << 62) - 64)
           .raw_tensor("b", {(1LL << 62) + 64}, 24, (1ULL << 62) - 64, 0)
           .header(),
       "add up to more"},
      {"cut_data", Gguf().tensor("a", {64}, 0, 256).padded() + "abc", "cut off"},
      {"cut_infos", Gguf().tensor("a", {64}, 0, 256).header().substr(0, 40), ""}};
  for (const std::uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U})
    out.push_back({"removed", Gguf().raw_tensor("a", {256}, id, 0, 4).header(), "removed type"});
  return out;
}

TEST(GgufHeader, EveryBrokenRuleIsOneSentenceWithTheByte) {
  for (const auto& bad : bad_gguf_files()) {
    const auto header = read(bad.file);
    ASSERT_FALSE(header) << bad.name;
    EXPECT_EQ(header.error().code, ErrorCode::bad_input);
    EXPECT_THAT(header.error().text,
                AllOf(HasSubstr("bad.gguf is refused at byte "), HasSubstr(bad.says), Not(HasSubstr("\n"))))
        << bad.name;
  }
}

}  // namespace
}  // namespace assay
