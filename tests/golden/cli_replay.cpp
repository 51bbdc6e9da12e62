// SPDX-License-Identifier: Apache-2.0
// assay replay as a user runs it: the textbook case of fragmentation, the same bytes twice, damaged traces,
// verification of real recordings, and the document it writes.
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/golden/cli_support.hpp"
#include "tests/support/shared_data.hpp"

namespace assay::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kHead = "#assay-trace 1\naction,device,stream,address,bytes,time_us\n";

class Replay : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    fs::copy(folder() / "textbook.trace", root_ / "textbook.trace");
  }
  static fs::path folder() { return fs::path(std::getenv("ASSAY_SOURCE_DIR")) / "tests/golden/replay"; }
  void file(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  void refused(const std::string& name, const std::string& text, const char* says) const {
    file(name, text);
    const auto ran = run("replay " + name);
    EXPECT_EQ(ran.exit, 65) << name << '\n' << ran.err;
    EXPECT_EQ(ran.out, "") << name;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << name << '\n' << ran.err;
    EXPECT_THAT(ran.err, AllOf(::testing::StartsWith("assay: "), HasSubstr(name), HasSubstr(says)));
  }
};

TEST_F(Replay, TheTextbookCase) {
  const std::string line = "replay textbook.trace --capacity 11GB --policy caching,expandable --no-search";
  const auto ran = run(line);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const auto golden = folder() / "textbook.txt";
  if (std::getenv("ASSAY_UPDATE_GOLDENS") != nullptr) std::ofstream(golden, std::ios::binary) << ran.out;
  EXPECT_EQ(ran.out, text_of(golden));
  const auto answer = json::parse(run(line + " --json").out);
  const auto& caching = answer["policies"][0];
  EXPECT_EQ(caching["out_of_memory"], true);
  EXPECT_EQ(caching["refusal"]["cause"], "fragmentation");
  EXPECT_EQ(caching["refusal"]["event"], 25);
  EXPECT_EQ(caching["refusal"]["requested_bytes"], 2'000'000'000);
  const std::string sentence = caching["refusal"]["sentence"];
  EXPECT_THAT(sentence, HasSubstr("5 pieces"));
  const auto& expandable = answer["policies"][1];
  EXPECT_EQ(expandable["out_of_memory"], false);
  EXPECT_EQ(expandable["retries"], 1);
}

TEST_F(Replay, NoLineIsWiderThanTheScreen) {
  const auto ran =
      run("replay textbook.trace --min-capacity --capacity 11GB --policy 'caching,expandable_segments:True,"
          "max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,1024:4,>:8]'");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  std::size_t start = 0;
  for (std::size_t end = 0; (end = ran.out.find('\n', start)) != std::string::npos; start = end + 1)
    if (ran.out.compare(start, 26, "  PYTORCH_CUDA_ALLOC_CONF=") != 0) {
      EXPECT_LE(end - start, 100U) << ran.out.substr(start, end - start);
    }
}

TEST_F(Replay, TheSameTraceTwiceGivesTheSameBytes) {
  for (const char* arguments : {"replay textbook.trace", "replay textbook.trace --json",
                                "replay textbook.trace --min-capacity --capacity 11GB"}) {
    const auto first = run(arguments);
    EXPECT_EQ(first.exit, 0) << first.err;
    EXPECT_FALSE(first.out.empty());
    EXPECT_EQ(first.out, run(arguments).out) << arguments;
  }
  EXPECT_THAT(run("replay textbook.trace --timing").err, HasSubstr("an operation"));
}

TEST_F(Replay, TheSmallestDeviceHoldsItAndTwoMebibytesLessDoNot) {
  const auto answer = json::parse(run("replay textbook.trace --min-capacity --no-search --json").out);
  for (const auto& policy : answer["policies"]) {
    const auto bytes = policy["min_capacity_bytes"].get<std::int64_t>();
    for (const std::int64_t size : {bytes, bytes - (2 << 20)}) {
      const auto limited = json::parse(run("replay textbook.trace --no-search --json --capacity " +
                                           std::to_string(size) + "B --policy " + policy["policy"].get<std::string>())
                                           .out);
      EXPECT_EQ(limited["policies"][0]["out_of_memory"], size != bytes) << policy["policy"] << ' ' << size;
    }
  }
}

TEST_F(Replay, WritesADocumentAndATimelineOnce) {
  const auto ran = run("replay textbook.trace --output r.json --timeline t.json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(run("validate r.json").exit, 0);
  const auto timeline = json::parse(text_of(root_ / "t.json"));
  std::int64_t highest = 0;
  for (const auto& event : timeline["traceEvents"])
    if (event["ph"] == "C") highest = std::max(highest, event["args"]["reserved_bytes"].get<std::int64_t>());
  const auto document = json::parse(text_of(root_ / "r.json"));
  std::int64_t peak = 0;
  for (const auto& policy : document["body"]["traces"][0]["policies"])
    peak = std::max(peak, policy["peak_reserved_bytes"].get<std::int64_t>());
  EXPECT_EQ(highest, peak);
  EXPECT_EQ(run("replay textbook.trace --output r.json").exit, 73);
  EXPECT_EQ(run("replay textbook.trace --timeline t.json").exit, 73);
}

TEST_F(Replay, RequestsTakeTheKvOptions) {
  // 5 tokens of context and 8 made.
  file("requests.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,5,8\n");
  const auto peak = [this](const std::string& options) {
    const auto ran = run("replay requests.csv --policy direct --no-search --json " + options);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return json::parse(ran.out)["policies"][0]["peak_requested_bytes"].get<std::int64_t>();
  };
  EXPECT_EQ(peak(""), 16 * 131'072);
  EXPECT_EQ(peak("--kv-block-tokens 4 --kv-bytes-per-token 1000"), 4 * 4 * 1000);
  EXPECT_EQ(peak("--kv-block-tokens 32 --kv-bytes-per-token 1000"), 32 * 1000);
  for (const char* wrong : {"--kv-block-tokens 0", "--kv-bytes-per-token -1", "--kv-pool 40", "--kv-pool 1MiB"})
    EXPECT_EQ(run(std::string("replay requests.csv ") + wrong).exit, 64) << wrong;
  EXPECT_THAT(run("replay --help").out, AllOf(HasSubstr("--kv-block-tokens"), HasSubstr("suite/trace/README.md")));
}

TEST_F(Replay, RefusesWhatItCannotDo) {
  for (const char* arguments :
       {"replay", "replay textbook.trace --policy cachign", "replay textbook.trace --policy native",
        "replay textbook.trace --policy max_split_size_mb:1", "replay textbook.trace --capacity 5",
        "replay textbook.trace --verify"}) {
    const auto ran = run(arguments);
    EXPECT_EQ(ran.exit, 64) << arguments << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(Replay, DamagedTraces) {
  const std::string head = kHead;
  refused("empty.trace", "", "empty");
  refused("no-events.trace", head, "no events");
  refused("twice.trace", head + "alloc,0,0,0x10,512,1\nfree,0,0,0x10,512,2\nfree,0,0,0x10,512,3\n", "event 3");
  refused("unknown.trace", head + "free,0,0,0x10,512,2\n", "event 1");
  refused("negative.trace", head + "alloc,0,0,0x10,-512,2\n", ":3:");
  refused("absurd.trace", head + "alloc,0,0,0x10,99999999999999999,2\n", ":3:");
  refused("column.csv", "Thread,Time,Action,Pointer,Size\n1,10:00:00.0,allocate,0x1,5\n", "'Stream' is missing");
  refused("build.pickle", std::string("\x80\x04") + "c__builtin__\neval\n.", "byte");
  refused("cut.pickle", std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0}", 12), "byte");
  // A text of 10 GiB, of which nothing follows.
  refused("long.pickle", std::string("\x80\x04\x8d\0\0\0\x80\x02\0\0\0", 11), "byte");
  std::string packed(4096, '\0');
  const std::string whole = head + "alloc,0,0,0x10,512,1\nfree,0,0,0x10,512,2\n";
  const auto gz = (root_ / "whole.gz").string();
  gzFile out = gzopen(gz.c_str(), "wb");
  gzwrite(out, whole.data(), static_cast<unsigned>(whole.size()));
  gzclose(out);
  EXPECT_EQ(run("replay whole.gz").exit, 0);
  const auto bytes = text_of(root_ / "whole.gz");
  refused("cut.gz", bytes.substr(0, bytes.size() - 12), "gz");
}

// Addresses and segment events of every recording; and one altered address is found.
TEST_F(Replay, VerifiesEveryRecording) {
  const auto recordings = test::shared_data("traces/pytorch");
  if (!recordings) GTEST_SKIP() << "no PyTorch snapshots; set ASSAY_SHARED_DATA to verify them";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(*recordings)) {
    if (entry.path().extension() != ".json" && entry.path().extension() != ".pickle") continue;
    ++files;
    const auto ran = run("replay --verify --json '" + entry.path().string() + "'");
    EXPECT_EQ(ran.exit, 0) << entry.path() << '\n' << ran.out;
    const auto answer = json::parse(ran.out);
    EXPECT_GT(answer["allocations"], 1000);
    EXPECT_EQ(answer["allocations"], answer["allocations_matched"]);
    EXPECT_TRUE(answer["first_divergence"].is_null());
  }
  EXPECT_EQ(files, 9U);
}

TEST_F(Replay, OneAlteredAddressDiverges) {
  const auto recording = test::shared_data("traces/pytorch/cs336-a.json");
  if (!recording) GTEST_SKIP() << "no PyTorch snapshot; set ASSAY_SHARED_DATA to verify one";
  const auto whole = json::parse(text_of(*recording));
  const auto count = whole["device_traces"][0].size();
  std::size_t tried = 0;
  for (std::size_t i = 7; i < count; i += count / 23) {
    for (const std::int64_t shift : {512, -512, 1 << 21, 1 << 30}) {
      auto altered = whole;
      auto& event = altered["device_traces"][0][i];
      if (event["action"] == "snapshot" || event["action"] == "oom") continue;
      event["addr"] = event["addr"].get<std::int64_t>() + shift;
      file("altered.json", altered.dump());
      const auto ran = run("replay --verify altered.json --json");
      // Two live blocks at one address are refused where the trace is read.
      EXPECT_TRUE(ran.exit == 1 || ran.exit == 65) << "event " << i << " " << event << '\n' << ran.out << ran.err;
      if (ran.exit == 1) {
        EXPECT_FALSE(json::parse(ran.out)["first_divergence"].is_null());
      }
      ++tried;
    }
  }
  EXPECT_GT(tried, 40U);
}

}  // namespace
}  // namespace assay::testing_cli
