// SPDX-License-Identifier: Apache-2.0
// The pickle reader: plain data comes out, everything else is refused without being executed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "suite/trace/pickle.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/unit/trace_support.hpp"

namespace assay {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using trace::Arena;
using trace::Value;
using trace::ValueKind;

struct Read {
  Arena arena;
  Value value;
  std::string failure;
};

Read read(const std::string& bytes) {
  const test::ScratchFolder folder;
  auto input = trace::Input::open(folder.write("p.pickle", bytes));
  Read result;
  const auto value = trace::read_pickle(*input, result.arena);
  if (value)
    result.value = *value;
  else
    result.failure = value.error().text;
  return result;
}

TEST(Pickle, NumbersOfEveryWidth) {
  // (255, 65535, -2, 2**40, -1, True, None, 1.5)
  const auto r = read(
      "\x80\x04(K\xffM\xff\xffJ\xfe\xff\xff\xff\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x01\xff\x88NG\x3f\xf8\x00\x00\x00\x00\x00\x00t."s);
  ASSERT_EQ(r.failure, "");
  const auto& list = r.arena.list_of(r.value);
  ASSERT_EQ(list.size(), 8u);
  EXPECT_EQ(list[0].integer, 255);
  EXPECT_EQ(list[1].integer, 65535);
  EXPECT_EQ(list[2].integer, -2);
  EXPECT_EQ(list[3].integer, std::int64_t{1} << 40);
  EXPECT_EQ(list[4].integer, -1);
  EXPECT_EQ(list[5].kind, ValueKind::boolean);
  EXPECT_EQ(list[6].kind, ValueKind::none);
  EXPECT_EQ(list[7].real, 1.5);
}

TEST(Pickle, RememberedValuesAreShared) {
  // ['ab', 'ab'] with the second fetched from the memo, and {'ab': 1}
  const auto r = read(
      "\x80\x04](\x8c\x02"
      "ab\x94h\x00}h\x00K\x01se."s);
  ASSERT_EQ(r.failure, "");
  const auto& list = r.arena.list_of(r.value);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(r.arena.text_of(list[1]), "ab");
  ASSERT_NE(r.arena.find(list[2], "ab"), nullptr);
}

TEST(Pickle, AListInsideItselfIsNoTrouble) {
  const auto r = read(
      "\x80\x04]\x94h\x00"
      "a."s);  // l = []; l.append(l)
  EXPECT_EQ(r.failure, "");
}

TEST(Pickle, EveryOpcodeThatBuildsIsRefusedByName) {
  const std::pair<std::string, const char*> cases[] = {{"cos\nsystem\n", "GLOBAL"},
                                                       {"R", "REDUCE"},
                                                       {"b", "BUILD"},
                                                       {"i", "INST"},
                                                       {"o", "OBJ"},
                                                       {"P", "PERSID"},
                                                       {"Q", "BINPERSID"},
                                                       {"\x81", "NEWOBJ"},
                                                       {"\x82", "EXT1"},
                                                       {"\x83", "EXT2"},
                                                       {"\x84", "EXT4"},
                                                       {"\x92", "NEWOBJ_EX"},
                                                       {"\x93", "STACK_GLOBAL"},
                                                       {"\x97", "NEXT_BUFFER"},
                                                       {"\x98", "READONLY_BUFFER"}};
  for (const auto& [bytes, name] : cases)
    EXPECT_THAT(read("\x80\x04" + bytes).failure, HasSubstr("opcode "s + name + " would build"));
}

TEST(Pickle, FalseLengthsCostNothing) {
  EXPECT_THAT(read("\x80\x04\x8d\x00\x00\x00\x80\x02\x00\x00\x00x"s).failure, HasSubstr("claims 10737418240 bytes"));
  EXPECT_THAT(read("\x80\x04X\x00\x00\xff\x00x"s).failure, HasSubstr("cut off"));
  EXPECT_THAT(read("\x80\x04\x8b\xff\xff\xff\x7f"s).failure, HasSubstr("beyond 64 bits"));
  EXPECT_THAT(read("\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s).failure, HasSubstr("beyond 64 bits"));
}

TEST(Pickle, StacksThatDoNotFit) {
  for (const auto& bytes :
       {"."s,   "e."s,  "u."s,  "s."s,     "a."s,    "t."s,    "0."s,   "1."s,          "2."s,   "\x85."s,    "\x87."s,
        "Na."s, "NN."s, "(N."s, "h\x05."s, "\x94."s, "}(Nu."s, "(Nd."s, "](K\x01\x86"s, "\x95"s, "\x80\x09"s, "\xf0"s})
    EXPECT_NE(read("\x80\x04" + bytes).failure, "") << bytes;
}

TEST(Pickle, CutAnywhereIsRefused) {
  const auto path = test::shared_data("traces/pytorch/cs336-medium-128-inference.pickle");
  if (!path) GTEST_SKIP() << "the snapshots are not here";
  std::ifstream file(*path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 97 + 1)
    EXPECT_NE(read(bytes.substr(0, size)).failure, "") << size;
}

// A million changed bytes, a few at a time: never a crash (run under the sanitizers too).
TEST(Pickle, DamagedBytesNeverCrash) {
  std::string good =
      "\x80\x04](\x8c\x02"
      "ab\x94h\x00}(h\x00K\x01h\x00](K\x02N\x88tese."s;
  std::uint32_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (int change = 0; change < 2; ++change) {
      state = state * 1664525u + 1013904223u;
      bad[state % bad.size()] = static_cast<char>(state >> 24);
    }
    (void)read(bad);
  }
}

}  // namespace
}  // namespace assay
