// SPDX-License-Identifier: Apache-2.0
// Under ThreadSanitizer a missing event between streams is reported in every run, and a present one never is.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kernels/copy/params.hpp"
#include "tests/contract/parts/fixture.hpp"
#include "tests/support/scenario.hpp"

namespace assay::contract {
namespace {

constexpr int kRepetitions = 20;
constexpr const char* kMark = "---- repetition ----\n";
constexpr std::size_t kBytes = 4096;

// What a scenario works with: two streams, an event, two buffers.
struct Rig {
  explicit Rig(const std::string& wave)
      : module(load()),
        device(open(module, wave)),
        first(stream(device)),
        second(stream(device)),
        event(make_event(device)),
        buffer(device, kBytes),
        other(device, kBytes) {}

  static device::Module load() {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    return std::move(device::Module::load(std::string(folder != nullptr ? folder : "") + "/libassay-host.so")).value();
  }
  static device::Device open(const device::Module& module, const std::string& wave) {
    return std::move(device::Device::open(module, 0, {{"memory_bytes", "67108864"}, {"wave", wave}})).value();
  }
  static device::Stream stream(const device::Device& device) {
    return std::move(device::Stream::create(device)).value();
  }
  static device::Event make_event(const device::Device& device) {
    return std::move(device::Event::create(device)).value();
  }

  void write(const device::Stream& s, std::uint8_t value) const { EXPECT_TRUE(s.fill(buffer.get(), value, kBytes)); }
  void read(const device::Stream& s) const {
    EXPECT_TRUE(s.copy(other.get(), buffer.get(), kBytes, ASSAY_COPY_DEVICE_TO_DEVICE));
  }
  void run_kernel(const device::Stream& s) const {
    const auto index = module.find_kernel("copy", "f32", "portable");
    ASSERT_TRUE(index);
    EXPECT_TRUE(s.launch(*index, kernels::CopyParams{buffer.get(), other.get(), kBytes / sizeof(float)}));
  }

  device::Module module;
  device::Device device;
  device::Stream first;
  device::Stream second;
  device::Event event;
  Buffer buffer;
  Buffer other;
};

// Each writes in one stream and reads in another (or on the host); `ordered` says whether the order is asked for.
using Scenario = std::function<void(const Rig&, bool ordered)>;

const std::map<std::string, Scenario>& scenarios() {
  static const std::map<std::string, Scenario> all = {
      {"copy_after_fill",
       [](const Rig& rig, bool ordered) {
         rig.write(rig.first, 1);
         if (ordered) {
           EXPECT_TRUE(rig.event.record(rig.first));
           EXPECT_TRUE(rig.second.wait(rig.event));
         }
         rig.read(rig.second);
       }},
      {"kernel_after_fill",
       [](const Rig& rig, bool ordered) {
         rig.write(rig.first, 1);
         if (ordered) {
           EXPECT_TRUE(rig.event.record(rig.first));
           EXPECT_TRUE(rig.second.wait(rig.event));
         }
         rig.run_kernel(rig.second);
       }},
      {"work_after_the_record_is_not_covered",
       [](const Rig& rig, bool ordered) {
         EXPECT_TRUE(rig.event.record(rig.first));
         rig.write(rig.first, 1);
         if (ordered) {
           EXPECT_TRUE(rig.event.record(rig.first));
         }
         EXPECT_TRUE(rig.second.wait(rig.event));
         rig.read(rig.second);
       }},
      {"the_host_reads_a_copy_it_did_not_wait_for",
       [](const Rig& rig, bool ordered) {
         std::vector<std::uint8_t> host(kBytes, 0);
         EXPECT_TRUE(rig.first.copy(host.data(), rig.buffer.get(), kBytes, ASSAY_COPY_DEVICE_TO_HOST));
         if (ordered) {
           EXPECT_TRUE(rig.first.synchronize());
         }
         ::usleep(20000);  // long past the copy: time is no order
         volatile std::uint8_t sink = host[17];
         static_cast<void>(sink);
         EXPECT_TRUE(rig.first.synchronize());
       }},
      {"reuse_without_the_event",
       [](const Rig& rig, bool ordered) {
         // What a broken allocator does: hands memory that one stream still uses to another.
         rig.write(rig.first, 1);
         if (ordered) {
           EXPECT_TRUE(rig.event.record(rig.first));
           EXPECT_TRUE(rig.event.synchronize());
         } else {
           ::usleep(20000);
         }
         rig.write(rig.second, 2);
       }},
  };
  return all;
}

// "NAME/ordered/WAVE" or "NAME/missing/WAVE", as often as ASSAY_REPETITIONS says.
TEST(ScenarioOfStreams, Run) {
  const std::string text = support::current_scenario();
  if (text.empty()) GTEST_SKIP() << "runs only as a child of other tests";
  const auto slash = text.find('/');
  const auto last = text.rfind('/');
  const char* repetitions = std::getenv("ASSAY_REPETITIONS");
  for (int i = 0; i < std::atoi(repetitions != nullptr ? repetitions : "1"); ++i) {
    std::fputs(kMark, stderr);
    const Rig rig(text.substr(last + 1));
    scenarios().at(text.substr(0, slash))(rig, text.substr(slash + 1, last - slash - 1) == "ordered");
    EXPECT_TRUE(rig.device.synchronize());
  }
}

class StreamRace : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef ASSAY_TSAN
    GTEST_SKIP() << "needs the tsan preset: only ThreadSanitizer sees an order that is missing";
#endif
  }
  // Repetitions, of kRepetitions, in which ThreadSanitizer reported a race; each has a device, streams and memory of
  // its own, and `in_one_process` of them share a process.
  static int reports(const std::string& name, int in_one_process) {
    // ThreadSanitizer's usual second of sleep at the end of a process would be most of this test's time.
    std::string options = "TSAN_OPTIONS=atexit_sleep_ms=0 symbolize=0";
    // A repetition is to report for itself, however much it resembles the one before.
    if (in_one_process > 1) options += " suppress_equal_stacks=0 suppress_equal_addresses=0";
    int found = 0;
    int repetitions = 0;
    for (int process = 0; process < kRepetitions / in_one_process; ++process) {
      const auto end = support::run_scenario("ScenarioOfStreams.Run", name, std::chrono::seconds(60),
                                             {options, "ASSAY_REPETITIONS=" + std::to_string(in_one_process)});
      EXPECT_FALSE(end.timed_out) << name;
      int found_here = 0;
      for (auto at = end.output.find(kMark); at != std::string::npos;) {
        const auto next = end.output.find(kMark, at + 1);
        const std::string_view one = std::string_view(end.output).substr(at, next - at);
        ++repetitions;
        if (one.find("WARNING: ThreadSanitizer: data race") != one.npos) ++found_here;
        at = next;
      }
      if (found_here == 0) {
        EXPECT_EQ(end.exit_code, 0) << end.output;
      }
      found += found_here;
    }
    EXPECT_EQ(repetitions, kRepetitions) << name;
    return found;
  }
};

// Hundreds of threads a block would each report for themselves, so here a process runs one repetition.
TEST_F(StreamRace, TheSameHoldsForKernelsWithRealBlockShapes) {
  EXPECT_EQ(reports("kernel_after_fill/missing/32", 1), kRepetitions);
  EXPECT_EQ(reports("kernel_after_fill/ordered/32", 1), 0);
}

class EveryStreamRace : public StreamRace, public ::testing::WithParamInterface<std::string> {};

TEST_P(EveryStreamRace, AMissingOrderIsReportedEveryTimeAndAPresentOneNever) {
  EXPECT_EQ(reports(GetParam() + "/missing/1", 5), kRepetitions);
  EXPECT_EQ(reports(GetParam() + "/ordered/1", 5), 0);
}

// What the module itself orders needs no event of the caller.
TEST(StreamOrder, PooledMemoryGoesFromStreamToStreamWithoutAReport) {
#ifndef ASSAY_TSAN
  GTEST_SKIP() << "needs the tsan preset: only ThreadSanitizer sees an order that is missing";
#endif
  const Rig rig("1");
  const auto& table = rig.module.table();
  assay_pool* pool = nullptr;
  ASSERT_EQ(table.pool_create(rig.device.handle(), &pool), ASSAY_OK);
  for (int round = 0; round < 20; ++round) {
    const auto& stream = round % 2 == 0 ? rig.first : rig.second;
    void* memory = nullptr;
    ASSERT_EQ(table.pool_malloc(pool, kBytes, stream.handle(), &memory), ASSAY_OK);
    ASSERT_TRUE(stream.fill(memory, static_cast<std::uint8_t>(round), kBytes));
    ASSERT_EQ(table.pool_free(pool, memory, stream.handle()), ASSAY_OK);
  }
  std::uint64_t reserved = 0;
  ASSERT_EQ(table.pool_get(pool, ASSAY_POOL_RESERVED_HIGH, &reserved), ASSAY_OK);
  EXPECT_EQ(reserved, kBytes);  // one block went round
  EXPECT_EQ(table.pool_destroy(pool), ASSAY_OK);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, scenario] : scenarios()) out.push_back(name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Streams, EveryStreamRace, ::testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace assay::contract
