// SPDX-License-Identifier: Apache-2.0
// Injected failures: each call of each entry surfaces as the right Error, and every object stays destructible.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "tests/contract/fault_session.hpp"
#include "tests/fault/entries.hpp"
#include "tests/support/scenario.hpp"

namespace assay::contract {
namespace {

using fault::kEntryCount;
using fault::kEntryNames;

device::Module faulty() {
  const char* folder = std::getenv("ASSAY_TEST_MODULES");
  auto module = device::Module::load(std::string(folder != nullptr ? folder : "") + "/libassay-faulty.so");
  EXPECT_TRUE(module) << (module ? "" : module.error().text);
  return std::move(module).value();
}

// The variable for the length of a scope; unset afterwards, so that counts start again.
class Injected {
 public:
  explicit Injected(const std::string& text) { ::setenv("ASSAY_FAULT", text.c_str(), 1); }
  ~Injected() { ::unsetenv("ASSAY_FAULT"); }
  Injected(const Injected&) = delete;
  Injected& operator=(const Injected&) = delete;
};

struct StatusCase {
  const char* word;
  ErrorCode code;
};
constexpr StatusCase kStatuses[] = {
    {"invalid_value", ErrorCode::usage},     {"out_of_memory", ErrorCode::out_of_memory},
    {"map_limit", ErrorCode::map_limit},     {"no_device", ErrorCode::no_device},
    {"unsupported", ErrorCode::unsupported}, {"kernel_fault", ErrorCode::fault},
    {"device_lost", ErrorCode::fault},       {"internal", ErrorCode::internal},
    {"not_ready", ErrorCode::internal},
};

// The queries answer "not ready" as a value.
bool is_query(std::string_view entry) {
  return entry == "stream_query" || entry == "event_query";
}

std::optional<Error> session(const device::Module& module) {
  return FaultSession(module).run();
}

TEST(Faults, WithoutAnyTheSessionReachesItsEnd) {
  const auto module = faulty();
  const auto failed = session(module);
  EXPECT_FALSE(failed) << failed->text;
}

class EntryFault : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static const char* entry() { return kEntryNames[GetParam()]; }
};

TEST_P(EntryFault, EveryStatusSurfacesAsItsError) {
  const auto module = faulty();
  for (const auto& status : kStatuses) {
    {
      const Injected injected(std::string(entry()) + ":1:" + status.word);
      const auto failed = session(module);
      if (is_query(entry()) && std::string_view(status.word) == "not_ready") {
        EXPECT_FALSE(failed) << failed->text;
        continue;
      }
      ASSERT_TRUE(failed) << entry() << " " << status.word << " was lost";
      EXPECT_EQ(failed->code, status.code) << failed->text;
      EXPECT_NE(failed->text.find(std::string(" in ") + entry()), std::string::npos) << failed->text;
    }
    const auto afterwards = session(module);
    EXPECT_FALSE(afterwards) << entry() << " " << status.word << " left something behind: " << afterwards->text;
  }
}

// The second call too, where the session makes one.
TEST_P(EntryFault, TheCountMeansTheNthCall) {
  const auto module = faulty();
  const Injected injected(std::string(entry()) + ":100000:internal");
  EXPECT_FALSE(session(module));
  std::size_t found = 0;
  for (const int call : {1, 2, 3}) {
    const Injected nth(std::string(entry()) + ":" + std::to_string(call) + ":internal");
    if (session(module)) ++found;
  }
  EXPECT_GE(found, 1u);
}

INSTANTIATE_TEST_SUITE_P(Table, EntryFault, ::testing::Range(std::size_t{0}, kEntryCount),
                         [](const auto& entry) { return kEntryNames[entry.param]; });

TEST(Faults, EveryCallOfASessionMayBeTheOneThatFails) {
  const auto module = faulty();
  int told = 0;
  for (int call = 1; call <= 150; ++call) {
    const Injected injected("any:" + std::to_string(call) + ":internal");
    if (session(module)) ++told;
  }
  // The calls of destructors have nobody to tell, and a session makes fewer calls than were tried.
  EXPECT_GT(told, 60);
  EXPECT_LT(told, 150);
  EXPECT_FALSE(session(module));
}

TEST(Faults, AKernelFaultIsStickyButMemoryCanStillBeRead) {
  const auto module = faulty();
  const Injected injected("launch:1:kernel_fault");
  auto device = device::Device::open(module, 0);
  ASSERT_TRUE(device);
  auto stream = device::Stream::create(*device);
  ASSERT_TRUE(stream);
  const auto memory = device->malloc(4096, ASSAY_OWNER_ALLOCATOR);
  ASSERT_TRUE(memory);
  const auto launched = stream->launch(0, kernels::CopyParams{});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::fault);
  for (int round = 0; round < 2; ++round) {
    const auto synchronized = stream->synchronize();
    ASSERT_FALSE(synchronized);
    EXPECT_EQ(synchronized.error().code, ErrorCode::fault);
    const auto more = device->malloc(4096, ASSAY_OWNER_ALLOCATOR);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::fault);
    const auto info = device->memory_info();
    ASSERT_TRUE(info) << info.error().text;
    EXPECT_EQ(info->allocator_bytes, 4096);
  }
}

TEST(Faults, ALostDeviceAnswersNothing) {
  const auto module = faulty();
  const Injected injected("stream_synchronize:1:device_lost");
  auto device = device::Device::open(module, 0);
  ASSERT_TRUE(device);
  auto stream = device::Stream::create(*device);
  ASSERT_TRUE(stream);
  const auto first = stream->synchronize();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::fault);
  const auto info = device->memory_info();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, ErrorCode::fault);
  EXPECT_FALSE(device::Event::create(*device));
  EXPECT_TRUE(module.device_count());
}

TEST(Faults, OnwardsMeansFromThatCallOn) {
  const auto module = faulty();
  const Injected injected("malloc:2+:out_of_memory");
  auto device = device::Device::open(module, 0);
  ASSERT_TRUE(device);
  const auto first = device->malloc(256, ASSAY_OWNER_ALLOCATOR);
  ASSERT_TRUE(first);
  for (int i = 0; i < 3; ++i) {
    const auto next = device->malloc(256, ASSAY_OWNER_ALLOCATOR);
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, ErrorCode::out_of_memory);
  }
  EXPECT_TRUE(device->free(*first));
}

TEST(Faults, AMalformedVariableIsSaid) {
  const auto module = faulty();
  for (const char* text : {"malloc", "malloc:1", "malloc:0:internal", "malloc:x:internal", "nothing:1:internal",
                           "malloc:1:nothing", "malloc:1:internal,", "malloc:1:internal,malloc"}) {
    const Injected injected(text);
    const auto count = module.device_count();
    if (std::string_view(text) == "malloc:1:internal,") {
      EXPECT_TRUE(count);  // a trailing comma announces nothing
      continue;
    }
    ASSERT_FALSE(count) << text;
    EXPECT_NE(count.error().text.find("malformed"), std::string::npos) << count.error().text;
  }
}

// ---- what would take the test program with it runs in a child ----

TEST(Scenario, Session) {
  if (support::current_scenario().empty()) GTEST_SKIP() << "runs only as a child of other tests";
  const auto failed = session(faulty());
  if (failed) FAIL() << failed->text;
}

TEST(Faults, AHangLastsUntilItIsKilled) {
  for (const char* entry : {"stream_synchronize", "device_open", "launch"}) {
    const auto end = support::run_scenario("Scenario.Session", "hang", std::chrono::milliseconds(600),
                                           {std::string("ASSAY_FAULT=") + entry + ":1:hang"});
    EXPECT_TRUE(end.timed_out) << entry << ": " << end.output;
    EXPECT_EQ(end.signal, SIGKILL);
  }
  const auto quiet = support::run_scenario("Scenario.Session", "none", std::chrono::seconds(60));
  EXPECT_FALSE(quiet.timed_out);
  EXPECT_EQ(quiet.exit_code, 0) << quiet.output;
}

TEST(Faults, ACrashEndsOnlyTheChild) {
  for (const char* kind : {"crash", "abort"}) {
    const auto end = support::run_scenario("Scenario.Session", kind, std::chrono::seconds(60),
                                           {std::string("ASSAY_FAULT=launch:1:") + kind});
    EXPECT_FALSE(end.timed_out);
    EXPECT_NE(end.exit_code, 0);  // sanitizers turn the signal into an exit code of their own
  }
}

}  // namespace
}  // namespace assay::contract
