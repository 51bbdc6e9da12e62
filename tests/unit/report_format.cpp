// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as a person reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "suite/report/format.hpp"
#include "suite/report/printable.hpp"
#include "suite/report/table.hpp"

namespace {

using namespace assay;

TEST(Format, TheSuffixIsTheDivisor) {
  EXPECT_EQ(report::binary_bytes(0), "0 B");
  EXPECT_EQ(report::binary_bytes(1023), "1023 B");
  EXPECT_EQ(report::binary_bytes(1024), "1.00 KiB");
  EXPECT_EQ(report::binary_bytes(1'073'741'824), "1.00 GiB");
  EXPECT_EQ(report::binary_bytes(1'000'000'000), "953.67 MiB");
  EXPECT_EQ(report::binary_bytes((1LL << 30) - 1), "1.00 GiB");  // not 1024.00 MiB
  EXPECT_EQ(report::binary_bytes(-(1LL << 30)), "-1.00 GiB");
  EXPECT_EQ(report::bytes_both(14'000'000'000), "14000000000 bytes = 14.00 GB = 13.04 GiB");
  EXPECT_EQ(report::bytes_both(131'072), "131072 bytes = 128.00 KiB");
  EXPECT_EQ(report::bytes_both(5), "5 bytes");
  EXPECT_EQ(report::bytes_both(20'000'000), "20000000 bytes = 20.00 MB = 19.07 MiB");
  EXPECT_EQ(report::bytes_both(999'999'999), "999999999 bytes = 1000.00 MB = 953.67 MiB");
}

TEST(Format, DurationsAndQuantities) {
  EXPECT_EQ(report::duration(1'500'000'000), "1.500 s");
  EXPECT_EQ(report::duration(2'000'000), "2.000 ms");
  EXPECT_EQ(report::duration(1'000), "1.000 us");
  EXPECT_EQ(report::duration(12), "12 ns");
  EXPECT_EQ(report::quantity(observed_bytes(2048)), "2.00 KiB");
  EXPECT_EQ(report::quantity(missing("bytes", "not read")), "n/a");
  EXPECT_EQ(report::quantity({12.5, "tokens/s", Basis::observed, {}}), "12.500 tokens/s");
  EXPECT_EQ(report::quantity({std::int64_t{3}, "1", Basis::observed, {}}), "3");
}

TEST(Table, AlignsAndNeverExceedsTheScreen) {
  report::Table table({"name", ">size"});
  table.add({"a", "1"});
  table.add({"longer", "1000"});
  EXPECT_EQ(table.text(), "  name    size\n  a          1\n  longer  1000\n");
  table.add({std::string(300, 'x'), "7"});
  std::istringstream lines(table.text());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), report::kScreenColumns);
  EXPECT_THAT(table.text(), testing::HasSubstr("x~"));
}

TEST(Table, CountsCharactersNotBytes) {
  report::Table table({"a", "b"});
  table.add({"\xc3\xa9\xc3\xa9", "x"});
  EXPECT_EQ(table.text(""), "a   b\n\xc3\xa9\xc3\xa9  x\n");
}

TEST(Table, WrapsItsLastColumn) {
  report::Table table({"A", "B"}, report::Overflow::wrap);
  table.add({"a", std::string(150, 'x') + " tail"});
  table.add({"b", "short"});
  std::istringstream lines(table.text(""));
  std::string all;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), report::kScreenColumns);
    all += line;
  }
  EXPECT_EQ(count, 4);  // heads, two lines of the long cell, the short one
  EXPECT_EQ(std::count(all.begin(), all.end(), 'x'), 150);
  // A first column that leaves no room still leaves the last one its least width.
  report::Table narrow({"A", "B"}, report::Overflow::wrap);
  narrow.add({std::string(120, 'a'), "one two three four five six seven"});
  EXPECT_THAT(narrow.text(""), testing::HasSubstr("one two three four five"));
}

TEST(Wrapped, BreaksAWordThatIsLongerThanALine) {
  const auto text = report::wrapped(std::string(250, 'w'), "first: ", "  ");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), report::kScreenColumns);
  EXPECT_EQ(std::count(text.begin(), text.end(), 'w'), 250);
  EXPECT_EQ(report::wrapped("", "empty:", "  "), "empty:\n");
  EXPECT_EQ(report::lines_of("", 10), std::vector<std::string>{""});
}

TEST(Printable, WhatSteersATerminalIsShown) {
  EXPECT_EQ(report::printable("plain, caf\xc3\xa9 \xe2\x82\xac"), "plain, caf\xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(report::printable("a\nb\r\t\x1b[31m\x07\x7f"), "a\\nb\\r\\t\\x1b[31m\\x07\\x7f");
  EXPECT_EQ(report::printable("\xc2\x9b"
                              "31m"),
            "\\x9b31m");  // the one-character CSI
  EXPECT_EQ(report::printable("\xe2\x80\xae"
                              "x"),
            "\\u202ex");  // writes backwards
  EXPECT_EQ(report::printable("\xff\xc0\xaf\xe2\x82"), "\\xff\\xc0\\xaf\\xe2\\x82");
  EXPECT_EQ(report::printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(report::printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(report::printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(report::printable_lines("\x1b[31mred\x1b[0m\nnext\x1b]0;title\x07"),
            "\x1b[31mred\x1b[0m\nnext\\x1b]0;title\\x07");
}

TEST(Table, ShowsControlCharacters) {
  report::Table table({"a"});
  table.add({"x\x1b[2J"});
  EXPECT_EQ(table.text(""), "a\nx\\x1b[2J\n");
}

TEST(Wrapped, BreaksAtBlanks) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  std::istringstream lines(report::wrapped(text, "first: ", "  "));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), report::kScreenColumns);
  EXPECT_EQ(count, 4);
}

}  // namespace
