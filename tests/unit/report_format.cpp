// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as a person reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "suite/report/format.hpp"
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

TEST(Wrapped, BreaksAtBlanks) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  std::istringstream lines(report::wrapped(text, "first: ", "  "));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), report::kScreenColumns);
  EXPECT_EQ(count, 4);
}

}  // namespace
