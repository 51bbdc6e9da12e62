// SPDX-License-Identifier: Apache-2.0
// The GPU modules' shared source under failure: every runtime call in turn, kernels that fault, devices that go.
#include <sys/resource.h>

#include <vector>

#include "tests/contract/gpu_direct.hpp"

namespace assay::test {
namespace {

template <class Rt>
class GpuFaults : public GpuSource<Rt> {
 protected:
  using Base = GpuSource<Rt>;
  using Base::table;
  using Base::unit;

  // Everything the table can do, whatever each step answers; remembers every status.
  std::vector<assay_status> live_through() {
    std::vector<assay_status> seen;
    const auto note = [&seen](assay_status status) { return seen.push_back(status), status == ASSAY_OK; };
    assay_device* device = nullptr;
    if (!note(table().device_open(0, nullptr, 0, &device))) return seen;
    Fields fields;
    note(table().device_identity(device, &collect_field, &fields));
    for (std::int32_t capability = ASSAY_CAPABILITY_POOL; capability <= ASSAY_CAPABILITY_PEER; ++capability) {
      std::int32_t supported = 0;
      note(table().device_capability(device, capability, &supported));
    }
    assay_memory_info info{};
    note(table().memory_info(device, &info));
    use_streams(device, note);
    use_pool(device, note);
    use_vmm(device, note);
    note(table().device_synchronize(device));
    note(table().device_close(device));
    return seen;
  }

  template <class Note>
  void use_streams(assay_device* device, const Note& note) {
    void* memory = nullptr;
    void* host = nullptr;
    assay_stream* stream = nullptr;
    assay_event* start = nullptr;
    assay_event* end = nullptr;
    note(table().malloc(device, 4096, ASSAY_OWNER_ALLOCATOR, &memory));
    note(table().host_malloc(device, 4096, &host));
    if (memory == nullptr || host == nullptr || !note(table().stream_create(device, 0, &stream))) return;
    if (!note(table().event_create(device, ASSAY_EVENT_TIMING, &start))) return;
    if (!note(table().event_create(device, ASSAY_EVENT_TIMING, &end))) return;
    note(table().event_record(start, stream));
    note(table().copy(stream, memory, host, 4096, ASSAY_COPY_HOST_TO_DEVICE));
    note(table().fill(stream, memory, 1, 4096));
    const kernels::CopyParams params{memory, static_cast<char*>(memory) + 2048, 256};
    assay_kernel_resources resources{};
    note(table().kernel_resources(device, Base::copy_kernel(), &resources));
    note(table().launch(stream, Base::copy_kernel(), &params, sizeof params));
    note(table().stream_wait_event(stream, start));
    note(table().peer_copy(stream, host, device, memory, device, 1024));
    note(table().event_record(end, stream));
    table().event_query(end);
    note(table().event_synchronize(end));
    table().stream_query(stream);
    note(table().stream_synchronize(stream));
    double ns = 0;
    note(table().event_elapsed(start, end, &ns));
    assay_graph* graph = nullptr;
    if (note(table().graph_begin(stream))) {
      note(table().fill(stream, memory, 2, 4096));
      note(table().graph_end(stream, &graph));
    }
    if (graph != nullptr) {
      note(table().graph_launch(graph, stream));
      note(table().graph_destroy(graph));
    }
    note(table().event_destroy(end));
    note(table().stream_destroy(stream));
    note(table().host_free(device, host));
    note(table().free(device, memory));
    // `start` is left for the close.
  }

  template <class Note>
  void use_pool(assay_device* device, const Note& note) {
    assay_pool* pool = nullptr;
    assay_stream* stream = nullptr;
    void* memory = nullptr;
    std::uint64_t value = 0;
    if (!note(table().pool_create(device, &pool)) || !note(table().stream_create(device, 0, &stream))) return;
    note(table().pool_set(pool, ASSAY_POOL_RELEASE_THRESHOLD, 1 << 20));
    note(table().pool_set(pool, ASSAY_POOL_REUSE_OPPORTUNISTIC, 0));
    if (note(table().pool_malloc(pool, 4096, stream, &memory))) note(table().pool_free(pool, memory, stream));
    note(table().pool_set(pool, ASSAY_POOL_RESERVED_HIGH, 0));
    note(table().pool_set(pool, ASSAY_POOL_USED_HIGH, 0));
    note(table().pool_get(pool, ASSAY_POOL_RESERVED_HIGH, &value));
    note(table().pool_get(pool, ASSAY_POOL_USED_HIGH, &value));
    note(table().pool_trim(pool, 0));
    note(table().stream_destroy(stream));
    note(table().pool_destroy(pool));
  }

  template <class Note>
  void use_vmm(assay_device* device, const Note& note) {
    std::size_t least = 0;
    std::size_t best = 0;
    void* range = nullptr;
    assay_physical* physical = nullptr;
    note(table().vmm_granularity(device, &least, &best));
    if (!note(table().vmm_reserve(device, 2 * unit, &range))) return;
    if (note(table().vmm_create(device, unit, ASSAY_OWNER_EXTERNAL, &physical))) {
      if (note(table().vmm_map(device, range, unit, physical))) note(table().vmm_unmap(device, range, unit));
      note(table().vmm_release(device, physical));
    }
    note(table().vmm_unreserve(device, range, 2 * unit));
  }
};

TYPED_TEST_SUITE(GpuFaults, Vendors);

TYPED_TEST(GpuFaults, NothingFailsWhenNothingIsBroken) {
  for (const assay_status status : this->live_through()) EXPECT_EQ(status, ASSAY_OK) << this->last_error();
  EXPECT_EQ(this->world().live(), 0U);
}

// The n-th call of the runtime fails, for every n: nothing crashes, the failure is told at least once with a sentence,
// and all that was made is given back, but for what the failing call itself should have given back.
TYPED_TEST(GpuFaults, EveryCallOfTheRuntimeMayFail) {
  this->live_through();
  const long calls = this->world().calls();
  ASSERT_GT(calls, 150);
  for (const int code : {1, 2, 999}) {
    for (long n = 1; n <= calls; ++n) {
      this->world().reset();
      this->world().fail_call("", n, code);
      this->live_through();
      const std::string failed = this->world().failed_call();
      ASSERT_FALSE(failed.empty()) << n;
      const bool gives_back =
          failed.find("free") != std::string::npos || failed.find("destroy") != std::string::npos ||
          failed.find("release") != std::string::npos || failed.find("unmap") != std::string::npos ||
          failed.find("unreserve") != std::string::npos || failed.find("capture_end") != std::string::npos;
      EXPECT_LE(this->world().live(), gives_back || failed == "set_device" ? 3U : 0U)
          << "call " << n << " " << failed << " answered " << code;
    }
  }
}

// The same with errors that stay: once told, the device is not asked again, and its words are those of the first.
TYPED_TEST(GpuFaults, AStickyErrorIsTheLastAnswerOfTheDevice) {
  this->live_through();
  const long calls = this->world().calls();
  for (long n = 1; n <= calls; n += 7) {
    this->world().reset();
    this->world().fail_call("", n, 719);
    const auto seen = this->live_through();
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), ASSAY_KERNEL_FAULT) << n << " " << this->world().failed_call();
  }
}

TYPED_TEST(GpuFaults, AFaultingKernelIsRememberedAndNamed) {
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  void* memory = nullptr;
  ASSERT_EQ(this->table().malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &memory), ASSAY_OK);
  this->world().fault_next_kernel(700);
  const kernels::CopyParams params{memory, static_cast<char*>(memory) + 2048, 256};
  EXPECT_EQ(this->table().launch(stream, this->copy_kernel(), &params, sizeof params), ASSAY_OK);
  EXPECT_EQ(this->table().stream_synchronize(stream), ASSAY_KERNEL_FAULT);
  EXPECT_NE(this->last_error().find("700"), std::string::npos) << this->last_error();
  const long calls = this->world().calls();
  void* more = nullptr;
  EXPECT_EQ(this->table().malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &more), ASSAY_KERNEL_FAULT);
  EXPECT_NE(this->last_error().find("new process"), std::string::npos) << this->last_error();
  EXPECT_EQ(this->table().stream_destroy(stream), ASSAY_KERNEL_FAULT);
  EXPECT_EQ(this->table().device_close(device), ASSAY_KERNEL_FAULT);
  EXPECT_EQ(this->world().calls(), calls) << "a lost device was asked again";
  assay_device* again = nullptr;
  EXPECT_EQ(this->table().device_open(0, nullptr, 0, &again), ASSAY_KERNEL_FAULT) << "the process is lost, and says so";
  EXPECT_EQ(again, nullptr);
}

TYPED_TEST(GpuFaults, ADeviceThatGoesIsLost) {
  assay_device* device = this->open();
  this->world().fail_call("device_synchronize", 1, 709);
  EXPECT_EQ(this->table().device_synchronize(device), ASSAY_DEVICE_LOST);
  assay_memory_info info{};
  EXPECT_EQ(this->table().memory_info(device, &info), ASSAY_DEVICE_LOST);
  EXPECT_EQ(this->table().device_close(device), ASSAY_DEVICE_LOST);
}

TYPED_TEST(GpuFaults, NoDriverIsNoDeviceAndTheCountIsZero) {
  this->world().settings.driver = false;
  std::int32_t count = 77;
  EXPECT_EQ(this->table().device_count(&count), ASSAY_NO_DEVICE);
  EXPECT_EQ(count, 0);
  assay_device* device = nullptr;
  EXPECT_EQ(this->table().device_open(0, nullptr, 0, &device), ASSAY_NO_DEVICE);
  this->world().settings.driver = true;
  this->world().settings.devices = 0;
  count = 77;
  EXPECT_EQ(this->table().device_count(&count), ASSAY_NO_DEVICE);
  EXPECT_EQ(count, 0);
  this->world().settings.devices = 1;
  this->world().fail_call("device_count", 1, 999);
  count = 77;
  EXPECT_EQ(this->table().device_count(&count), ASSAY_INTERNAL);
  EXPECT_EQ(count, 77);
}

TYPED_TEST(GpuFaults, RunningOutOfFileDescriptorsIsNoLackOfMemory) {
  assay_device* device = this->open();
  std::int32_t supported = 0;
  ASSERT_EQ(this->table().device_capability(device, ASSAY_CAPABILITY_VMM, &supported), ASSAY_OK);
  ASSERT_EQ(supported, 1) << this->last_error();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 24;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<assay_physical*> made;
  assay_status status = ASSAY_OK;
  while (status == ASSAY_OK && made.size() < 64) {
    assay_physical* physical = nullptr;
    status = this->table().vmm_create(device, this->unit, ASSAY_OWNER_ALLOCATOR, &physical);
    if (status == ASSAY_OK) made.push_back(physical);
  }
  const std::string words = this->last_error();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(status, ASSAY_MAP_LIMIT) << words;
  EXPECT_NE(words.find("RLIMIT_NOFILE"), std::string::npos) << words;
  for (assay_physical* physical : made) EXPECT_EQ(this->table().vmm_release(device, physical), ASSAY_OK);
  EXPECT_EQ(this->table().device_close(device), ASSAY_OK);
}

TYPED_TEST(GpuFaults, ClosingGivesBackEverythingThatIsStillOpen) {
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  assay_stream* capturing = this->stream(device);
  void* memory = nullptr;
  void* host = nullptr;
  void* range = nullptr;
  assay_event* event = nullptr;
  assay_pool* pool = nullptr;
  assay_physical* physical = nullptr;
  assay_graph* graph = nullptr;
  const auto& table = this->table();
  ASSERT_EQ(table.malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &memory), ASSAY_OK);
  ASSERT_EQ(table.host_malloc(device, 4096, &host), ASSAY_OK);
  ASSERT_EQ(table.event_create(device, 0, &event), ASSAY_OK);
  ASSERT_EQ(table.pool_create(device, &pool), ASSAY_OK);
  ASSERT_EQ(table.vmm_reserve(device, this->unit, &range), ASSAY_OK);
  ASSERT_EQ(table.vmm_create(device, this->unit, ASSAY_OWNER_EXTERNAL, &physical), ASSAY_OK);
  ASSERT_EQ(table.vmm_map(device, range, this->unit, physical), ASSAY_OK);
  ASSERT_EQ(table.graph_begin(stream), ASSAY_OK);
  ASSERT_EQ(table.fill(stream, memory, 1, 4096), ASSAY_OK);
  ASSERT_EQ(table.graph_end(stream, &graph), ASSAY_OK);
  ASSERT_EQ(table.graph_begin(capturing), ASSAY_OK);
  ASSERT_EQ(table.event_record(event, stream), ASSAY_OK);
  EXPECT_GT(this->world().live(), 8U);
  EXPECT_EQ(table.device_close(device), ASSAY_OK) << this->last_error();
  EXPECT_EQ(this->world().live(), 0U);
}

// Exceptions of a sink, which is the caller's code, stop at the wall.
TYPED_TEST(GpuFaults, AnExceptionDoesNotCrossTheTable) {
  const auto throws = [](void*, const assay_field*) { throw std::runtime_error("a sink that throws"); };
  EXPECT_EQ(this->table().describe(throws, nullptr), ASSAY_INTERNAL);
  EXPECT_EQ(this->last_error(), "a sink that throws");
  const auto throws_number = [](void*, const assay_field*) { throw 7; };
  EXPECT_EQ(this->table().describe(throws_number, nullptr), ASSAY_INTERNAL);
  EXPECT_NE(this->last_error().find("unknown type"), std::string::npos);
}

}  // namespace
}  // namespace assay::test
