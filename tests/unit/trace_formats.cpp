// SPDX-License-Identifier: Apache-2.0
// Each trace format: what is read from a small file written here, and from the real ones where they are present.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include "tests/support/shared_data.hpp"
#include "tests/unit/trace_support.hpp"

namespace assay {
namespace {

using test::read_whole;
using test::ScratchFolder;
using trace::Action;
using trace::Format;

const char* const kSnapshot = R"({"segments":[{"device":0,"address":4096,"total_size":2097152,"stream":7,
  "segment_type":"small","segment_pool_id":[0,1],"is_expandable":false,"frames":[{"name":"f"}],"blocks":[
  {"address":4096,"size":512,"requested_size":100,"state":"active_allocated","frames":[]},
  {"address":4608,"size":2096640,"requested_size":0,"state":"inactive"}]}],
  "device_traces":[[{"action":"segment_alloc","addr":4096,"size":2097152,"stream":7,"time_us":1},
  {"action":"alloc","addr":4096,"size":100,"stream":7,"time_us":2,"frames":[[[]]]},
  {"action":"oom","device_free":77,"size":512,"stream":7,"time_us":3},
  {"action":"snapshot","addr":0,"size":0,"stream":0,"time_us":4}]],
  "allocator_settings":{"PYTORCH_CUDA_ALLOC_CONF":"max_split_size_mb:64","max_split_size":67108864,"expandable_segments":false}})";

TEST(TraceFormats, SnapshotGivesSegmentsSettingsAndEvents) {
  const ScratchFolder folder;
  const auto whole = read_whole(folder.write("s.json", kSnapshot));
  ASSERT_EQ(whole.failure, "");
  ASSERT_EQ(whole.header.final_segments.size(), 1u);
  const auto& segment = whole.header.final_segments[0];
  EXPECT_EQ(segment.address, 4096u);
  EXPECT_EQ(segment.stream, 7u);
  EXPECT_EQ(segment.pool_second, 1u);
  EXPECT_TRUE(segment.small_pool);
  ASSERT_EQ(segment.blocks.size(), 2u);
  EXPECT_EQ(segment.blocks[0].requested_bytes, 100);
  EXPECT_EQ(segment.blocks[0].state, trace::RecordedState::active);
  EXPECT_EQ(whole.header.origin.settings, "max_split_size_mb:64");
  EXPECT_EQ(whole.header.origin.max_split_size_bytes, 67108864);
  EXPECT_EQ(whole.header.origin.platform, "unknown") << "a snapshot does not say whose hardware executed";
  EXPECT_FALSE(whole.header.starts_empty);
  ASSERT_EQ(whole.events.size(), 4u);
  EXPECT_EQ(whole.events[1].action, Action::alloc);
  EXPECT_EQ(whole.events[1].bytes, 100);
  EXPECT_EQ(whole.events[2].action, Action::out_of_memory);
  EXPECT_EQ(whole.events[2].address, 77u);
}

TEST(TraceFormats, GzipIsUndoneUnseen) {
  const ScratchFolder folder;
  const auto path = (folder.path() / "s.json.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kSnapshot);
  gzclose(file);
  const auto whole = read_whole(path);
  EXPECT_EQ(whole.failure, "");
  EXPECT_EQ(whole.events.size(), 4u);
}

TEST(TraceFormats, RmmKeepsStreamsOfBothNotations) {
  const ScratchFolder folder;
  const auto whole = read_whole(folder.write("rmm.csv",
                                             "Thread,Time,Action,Pointer,Size,Stream\n"
                                             "12,10:00:00.000001,allocate,0x7f00,1000,0x7fab\n"
                                             "12,10:00:00.5,allocate failure,(nil),5000,0\r\n"
                                             "13,10:00:01.000000,free,0x7f00,1000,0x7fab\n"));
  ASSERT_EQ(whole.failure, "");
  ASSERT_EQ(whole.events.size(), 3u);
  EXPECT_EQ(whole.events[0].stream, 0x7fabu);
  EXPECT_EQ(whole.events[0].address, 0x7f00u);
  EXPECT_EQ(whole.events[0].time_us, 36'000'000'001);
  EXPECT_EQ(whole.events[1].action, Action::out_of_memory);
  EXPECT_EQ(whole.events[1].time_us, 36'000'500'000);
  EXPECT_EQ(whole.events[2].action, Action::free);
}

TEST(TraceFormats, KinetoCsvSignsAreFrees) {
  const ScratchFolder folder;
  const auto whole = read_whole(folder.write("k.csv",
                                             "t_us,device_type,device_id,addr,bytes,total_allocated,total_reserved\n"
                                             "0.0,6,2,4096,512,512,2097152\n"
                                             "0.5,0,0,99,8,8,8\n"
                                             "1.5,6,2,4096,-512,0,2097152\n"));
  ASSERT_EQ(whole.failure, "");
  ASSERT_EQ(whole.events.size(), 2u) << "memory of the processor is not a device's";
  EXPECT_EQ(whole.events[0].device, 2);
  EXPECT_EQ(whole.events[1].action, Action::free);
  EXPECT_EQ(whole.events[1].bytes, 512);
  EXPECT_EQ(whole.header.origin.platform, "amd");
  EXPECT_FALSE(whole.header.warnings.empty());
}

TEST(TraceFormats, KinetoProfileGivesTheSameEvents) {
  const ScratchFolder folder;
  const auto whole =
      read_whole(folder.write("k.json", R"({"schemaVersion":1,"deviceProperties":[{"name":"AMD Instinct MI300X"}],
    "traceEvents":[{"ph":"X","name":"gemm","ts":1},
    {"ph":"i","name":"[memory]","ts":2.5,"args":{"Device Type":6,"Device Id":0,"Addr":4096,"Bytes":512}},
    {"ph":"i","name":"[memory]","ts":3,"args":{"Device Type":6,"Device Id":0,"Addr":4096,"Bytes":-512}}]})"));
  ASSERT_EQ(whole.failure, "");
  ASSERT_EQ(whole.events.size(), 2u);
  EXPECT_EQ(whole.events[1].action, Action::free);
  EXPECT_EQ(whole.header.origin.device, "AMD Instinct MI300X");
}

TEST(TraceFormats, DeviceTypeOneDoesNotSayWhoseHardware) {
  const ScratchFolder folder;
  const auto whole = read_whole(folder.write("k.csv", "t_us,device_type,device_id,addr,bytes\n0,1,0,1,512\n"));
  EXPECT_EQ(whole.header.origin.platform, "unknown");
}

TEST(TraceFormats, UmpireReallocateIsFreeAndAllocUnlessLogged) {
  const ScratchFolder folder;
  const auto line = [](const std::string& name, const std::string& numbers, const std::string& texts) {
    return R"({"category":"operation","name":")" + name + R"(","numeric_args":{)" + numbers + R"(},"string_args":{)" +
           texts + R"(},"timestamp":1000})" + "\n";
  };
  const std::string a = R"("allocator_ref":"0x10")";
  const auto whole = read_whole(folder.write(
      "u.replay", line("allocate", R"("size":4)", a + R"(,"pointer":"0x100")") +
                      line("reallocate", R"("size":8)", a + R"(,"current_ptr":"0x100")") +
                      line("reallocate", "", a + R"(,"new_ptr":"0x200")") +  // nothing between: free and alloc
                      line("reallocate", R"("size":0)", a + R"(,"current_ptr":"0x200")") +
                      line("deallocate", "", a + R"(,"pointer":"0x200")") +  // logged by itself
                      line("allocate", R"("size":0)", a + R"(,"pointer":"0x300")") +
                      line("reallocate", "", a + R"(,"new_ptr":"0x300")")));
  ASSERT_EQ(whole.failure, "");
  std::string actions;
  for (const auto& event : whole.events) actions += event.action == Action::alloc ? 'a' : 'f';
  EXPECT_EQ(actions, "afafa");
}

TEST(TraceFormats, AssayTraceCarriesItsIdentity) {
  const ScratchFolder folder;
  const auto whole = read_whole(folder.write("t.csv",
                                             "#assay-trace 1\n#framework=assay\n#platform=cpu\n#settings=\n"
                                             "action,device,stream,address,bytes,time_us\n"
                                             "alloc,0,1,0x1000,700,5\nrecord_stream,0,2,0x1000,0,6\n"
                                             "free_requested,0,1,0x1000,700,7\nfree_completed,0,1,0x1000,700,8\n"));
  ASSERT_EQ(whole.failure, "");
  EXPECT_EQ(whole.header.origin.platform, "cpu");
  ASSERT_EQ(whole.events.size(), 4u);
  EXPECT_EQ(whole.events[1].action, Action::record_stream);
  EXPECT_EQ(whole.events[1].stream, 2u);
}

struct Real {
  const char* file;
  std::size_t allocations;
  std::size_t frees;
};

class RealTrace : public ::testing::TestWithParam<Real> {};

// Counted with an independent reader (Python's json and csv modules).
TEST_P(RealTrace, IsReadWhole) {
  const auto path = test::shared_data(GetParam().file);
  if (!path) GTEST_SKIP() << "the data " << GetParam().file << " is not here";
  const auto whole = read_whole(path->string());
  EXPECT_EQ(whole.failure, "");
  std::map<Action, std::size_t> counts;
  for (const auto& event : whole.events) ++counts[event.action];
  EXPECT_EQ(counts[Action::alloc], GetParam().allocations);
  EXPECT_EQ(counts[Action::free_completed] + counts[Action::free], GetParam().frees);
}

INSTANTIATE_TEST_SUITE_P(Data, RealTrace,
                         ::testing::Values(Real{"traces/pytorch/cs336-a.json", 1721, 1721},
                                           Real{"traces/pytorch/cs336-a.pickle", 1721, 1721},
                                           Real{"traces/pytorch/cs336-b-forward.json", 4138, 2405},
                                           Real{"traces/pytorch/cs336-medium-1024-training.json", 7591, 7370},
                                           Real{"traces/pytorch/cs336-medium-128-inference.pickle", 1280, 1280},
                                           Real{"traces/other/umpire.replay", 204, 204}),
                         [](const auto& row) {
                           std::string name = row.param.file;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

TEST(TraceFormats, PickleAndJsonOfOneSnapshotAreTheSame) {
  for (const char* name : {"cs336-a", "cs336-medium-128-inference"}) {
    const auto json = test::shared_data(std::string("traces/pytorch/") + name + ".json");
    const auto pickle = test::shared_data(std::string("traces/pytorch/") + name + ".pickle");
    if (!json || !pickle) GTEST_SKIP() << "the snapshots are not here";
    const auto left = read_whole(json->string());
    const auto right = read_whole(pickle->string());
    ASSERT_EQ(left.failure + right.failure, "");
    ASSERT_EQ(left.events.size(), right.events.size());
    for (std::size_t i = 0; i < left.events.size(); ++i) {
      EXPECT_EQ(left.events[i].action, right.events[i].action);
      EXPECT_EQ(left.events[i].address, right.events[i].address);
      EXPECT_EQ(left.events[i].bytes, right.events[i].bytes);
    }
    ASSERT_EQ(left.header.final_segments.size(), right.header.final_segments.size());
    for (std::size_t i = 0; i < left.header.final_segments.size(); ++i)
      EXPECT_EQ(left.header.final_segments[i].blocks.size(), right.header.final_segments[i].blocks.size());
  }
}

}  // namespace
}  // namespace assay
