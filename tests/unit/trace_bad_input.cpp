// SPDX-License-Identifier: Apache-2.0
// Damaged traces: one sentence with file and position, never a crash, never memory beyond the file's own measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>

#include "tests/support/shared_data.hpp"
#include "tests/unit/trace_support.hpp"

namespace assay {
namespace {

using test::read_whole;
using test::ScratchFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRmmHead = "Thread,Time,Action,Pointer,Size,Stream\n";
const std::string kAssayHead = "#assay-trace 1\naction,device,stream,address,bytes,time_us\n";

struct Bad {
  const char* name;
  std::string text;
  const char* says;
};

class BadTrace : public ::testing::TestWithParam<Bad> {};

TEST_P(BadTrace, IsOneSentenceWithTheFile) {
  const ScratchFolder folder;
  const auto failure = read_whole(folder.write("bad", GetParam().text)).failure;
  EXPECT_THAT(failure, AllOf(HasSubstr("/bad"), HasSubstr(GetParam().says)));
  EXPECT_THAT(failure, Not(HasSubstr("\n")));
}

std::string snapshot_with(const std::string& event) {
  return R"({"segments":[],"device_traces":[[)" + event + "]]}";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadTrace,
    ::testing::Values(
        Bad{"empty", "", "empty"}, Bad{"noise", "hello world\n", "format is not known"},
        Bad{"rmm_without_events", kRmmHead, "no events"},
        Bad{"rmm_missing_column", "Thread,Time,Action,Pointer,Size\n1,2,3,4,5\n", "'Stream' is missing"},
        Bad{"rmm_cut_line", kRmmHead + "1,10:00:00.0,alloc", ":2: 3 columns"},
        Bad{"rmm_unknown_action", kRmmHead + "1,10:00:00.0,steal,0x1,5,0\n", "'steal'"},
        Bad{"rmm_negative", kRmmHead + "1,10:00:00.0,allocate,0x1,-5,0\n", "'-5'"},
        Bad{"rmm_absurd", kRmmHead + "1,10:00:00.0,allocate,0x1,99999999999999999,0\n", "Size"},
        Bad{"rmm_overflow", kRmmHead + "1,10:00:00.0,allocate,0x1,99999999999999999999999,0\n", "Size"},
        Bad{"rmm_unknown_free", kRmmHead + "1,10:00:00.0,free,0x1,5,0\n", "never allocated"},
        Bad{"assay_version", "#assay-trace 9\n", "another version"},
        Bad{"assay_double_free", kAssayHead + "alloc,0,0,1,5,0\nfree,0,0,1,5,0\nfree,0,0,1,5,0\n", "never allocated"},
        Bad{"assay_double_alloc", kAssayHead + "alloc,0,0,1,5,0\nalloc,0,0,1,5,0\n", "allocated twice"},
        Bad{"kineto_nan", "t_us,device_type,device_id,addr,bytes\nnan,1,0,1,512\n", "out of any range"},
        Bad{"kineto_zero", "t_us,device_type,device_id,addr,bytes\n0,1,0,1,0\n", "out of any range"},
        Bad{"kineto_double_free", "t_us,device_type,device_id,addr,bytes\n0,1,0,1,-512\n1,1,0,1,-512\n", "freed twice"},
        Bad{"kineto_real_bytes", "t_us,device_type,device_id,addr,bytes\n0,1,0,1,5.5\n", "'5.5'"},
        Bad{"json_list", "{}", "segments"}, Bad{"json_cut", R"({"segments":[{"addr)", "malformed"},
        Bad{"json_deep", R"({"segments":)" + std::string(1'000'000, '['), "deeper than 64"},
        Bad{"snapshot_no_events", R"({"segments":[],"device_traces":[[]]})", "no events"},
        Bad{"snapshot_no_size", snapshot_with(R"({"action":"alloc","addr":1,"stream":0})"),
            "device_traces[0][0]: 'size'"},
        Bad{"snapshot_negative", snapshot_with(R"({"action":"alloc","addr":1,"size":-1,"stream":0})"), "no size"},
        Bad{"snapshot_text_size", snapshot_with(R"({"action":"alloc","addr":1,"size":"x","stream":0})"), "no integer"},
        Bad{"snapshot_unknown", snapshot_with(R"({"action":"steal","addr":1,"size":1,"stream":0})"), "'steal'"},
        Bad{"snapshot_huge", snapshot_with(R"({"action":"alloc","addr":1,"size":18446744073709551615,"stream":0})"),
            "no size"},
        Bad{"snapshot_double_free",
            snapshot_with(
                R"({"action":"free_completed","addr":1,"size":1,"stream":0},{"action":"free_completed","addr":1,"size":1,"stream":0})"),
            "freed twice"},
        Bad{"snapshot_gap",
            R"({"segments":[{"device":0,"address":0,"total_size":1024,"stream":0,"segment_type":"small","blocks":[{"address":512,"size":512,"state":"inactive"}]}],"device_traces":[[]]})",
            "does not begin where"},
        Bad{"umpire_cut", R"({"category":"operation","name":"allocate","numeric_args":{"size":4},"string)", ":1:"},
        Bad{"umpire_no_size",
            R"({"category":"operation","name":"allocate","string_args":{"allocator_ref":"0x1","pointer":"0x2"}})"
            "\n",
            "'size'"},
        Bad{"profile_without_args", R"({"schemaVersion":1,"traceEvents":[{"name":"[memory]"}]})", "traceEvents[0]"}),
    [](const auto& row) { return row.param.name; });

TEST(BadTraceFile, MissingFileAndFolder) {
  const ScratchFolder folder;
  EXPECT_THAT(read_whole((folder.path() / "none").string()).failure, HasSubstr("No such file"));
  EXPECT_THAT(read_whole(folder.path().string()).failure, HasSubstr("is a folder"));
}

TEST(BadTraceFile, GzipThatEndsEarly) {
  const ScratchFolder folder;
  const auto path = (folder.path() / "full.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kAssayHead.c_str());
  for (int i = 1; i < 2000; ++i) gzprintf(file, "alloc,0,0,%d,%d,0\n", i, i * 7919 % 4096);
  gzclose(file);
  std::ifstream whole(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
  EXPECT_EQ(read_whole(path).failure, "");
  for (const std::size_t size : {bytes.size() - 1, bytes.size() - 9, bytes.size() / 2, std::size_t{20}}) {
    const auto failure = read_whole(folder.write("cut.gz", bytes.substr(0, size))).failure;
    EXPECT_THAT(failure, HasSubstr("gzip data ends early")) << size;
  }
}

// Cut anywhere, a snapshot is refused, and never read half.
TEST(BadTraceFile, SnapshotCutAnywhere) {
  const ScratchFolder folder;
  const std::string text = snapshot_with(R"({"action":"alloc","addr":1,"size":1,"stream":0})");
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(read_whole(folder.write("cut.json", text.substr(0, size))).failure, "") << size;
}

}  // namespace
// Words of the file in a message: whatever they are, the message stays one line of printable text.
TEST(TraceBadInput, MessagesShowNoControlCharactersOfTheFile) {
  const assay::test::ScratchFolder folder;
  const std::string noise =
      "a\x1b[31m\x01\xff\x80"
      "b\tc";
  const std::string block = R"({"address": 0, "size": 512, "requested_size": 1, "state": "x\ny\u0007z"})";
  const std::vector<std::pair<std::string, std::string>> files{
      {"a.csv", "#assay-trace 1\naction,device,stream,address,bytes,time_us\n" + noise + ",0,0,0,0,0\n"},
      {"b.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00," + noise + ",0x1,1,0\n"},
      {"c.csv", "t_us,device_type,device_id,addr,bytes,total_allocated,total_reserved\n" + noise + ",1,0,1,1,1,1\n"},
      {"d.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n" + noise + ",1,1\n"},
      {"e.json", R"({"segments": [{"device": 0, "address": 0, "total_size": 512, "stream": 0, "segment_type": "large",)"
                 R"( "blocks": [)" +
                     block + R"(]}], "device_traces": [[]]})"},
      {"f.json", R"({"segments": [], "device_traces": [[{"action": "a\nb\u001b"}]]})"},
  };
  for (const auto& [name, text] : files) {
    const auto whole = assay::test::read_whole(folder.write(name, text));
    ASSERT_FALSE(whole.failure.empty()) << name;
    for (const char c : whole.failure) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << name << ": " << whole.failure;
  }
}

}  // namespace assay
