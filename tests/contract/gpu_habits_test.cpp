// SPDX-License-Identifier: Apache-2.0
// The GPU modules' shared source against the vendors' habits: capabilities, pools, virtual memory, capture, time,
// words.
#include <array>
#include <limits>

#include "kernels/triad/params.hpp"
#include "tests/contract/gpu_direct.hpp"

namespace assay::test {
namespace {

template <class Rt>
class GpuHabits : public GpuSource<Rt> {
 protected:
  using Base = GpuSource<Rt>;
  bool supports(assay_device* device, std::int32_t capability) {
    std::int32_t supported = -1;
    EXPECT_EQ(Base::table().device_capability(device, capability, &supported), ASSAY_OK) << Base::last_error();
    return supported == 1;
  }
  void close(assay_device* device) { EXPECT_EQ(Base::table().device_close(device), ASSAY_OK) << Base::last_error(); }
};

TYPED_TEST_SUITE(GpuHabits, Vendors);

TYPED_TEST(GpuHabits, VirtualMemoryIsBelievedOnlyWhenItWorked) {
  struct Case {
    void (*set)(SimSettings&);
    const char* words;
  };
  const Case cases[] = {
      {[](SimSettings& s) { s.vmm_attribute = false; }, "attribute"},
      {[](SimSettings& s) { s.vmm_works = false; }, "map physical memory"},
      {[](SimSettings& s) { s.vmm_lost_address = true; }, "reserved no addresses"},
      {[](SimSettings& s) { s.memory_corrupt = true; }, "other bytes"},
  };
  for (const auto& broken : cases) {
    this->world().reset();
    broken.set(this->world().settings);
    assay_device* device = this->open();
    EXPECT_FALSE(this->supports(device, ASSAY_CAPABILITY_VMM));
    EXPECT_NE(this->last_error().find(broken.words), std::string::npos) << this->last_error();
    void* range = nullptr;
    EXPECT_EQ(this->table().vmm_reserve(device, this->unit, &range), ASSAY_UNSUPPORTED);
    std::size_t least = 0;
    EXPECT_EQ(this->table().vmm_granularity(device, &least, &least), ASSAY_UNSUPPORTED);
    const auto fields = this->identity(device);
    EXPECT_EQ(fields.at("vmm_granularity_bytes").find("unknown"), 0U);
    this->close(device);
    EXPECT_EQ(this->world().live(), 0U) << broken.words;
  }
}

TYPED_TEST(GpuHabits, AnAnswerIsRememberedButALackOfMemoryIsNoAnswer) {
  assay_device* device = this->open();
  this->world().fail_call("vmm_create", 1, 2);
  std::int32_t supported = -1;
  EXPECT_EQ(this->table().device_capability(device, ASSAY_CAPABILITY_VMM, &supported), ASSAY_OUT_OF_MEMORY);
  EXPECT_TRUE(this->supports(device, ASSAY_CAPABILITY_VMM));
  const long probes = this->world().calls("vmm_create");
  EXPECT_TRUE(this->supports(device, ASSAY_CAPABILITY_VMM));
  EXPECT_EQ(this->world().calls("vmm_create"), probes);
  this->world().fail_call("pool_create", 1, 801);
  EXPECT_FALSE(this->supports(device, ASSAY_CAPABILITY_POOL));
  EXPECT_FALSE(this->supports(device, ASSAY_CAPABILITY_POOL));
  assay_pool* pool = nullptr;
  EXPECT_EQ(this->table().pool_create(device, &pool), ASSAY_UNSUPPORTED);
  this->close(device);
}

TYPED_TEST(GpuHabits, PeersAreOtherDevicesThatCanBeReached) {
  assay_device* device = this->open();
  EXPECT_TRUE(this->supports(device, ASSAY_CAPABILITY_PEER));
  this->close(device);
  this->world().settings.peers = false;
  device = this->open();
  EXPECT_FALSE(this->supports(device, ASSAY_CAPABILITY_PEER));
  this->close(device);
  this->world().settings.peers = true;
  this->world().settings.devices = 1;
  device = this->open();
  EXPECT_FALSE(this->supports(device, ASSAY_CAPABILITY_PEER));
  this->close(device);
}

TYPED_TEST(GpuHabits, GranularityIsNeverBelowTwoMebibytes) {
  assay_device* device = this->open();
  std::size_t least = 0;
  std::size_t best = 0;
  ASSERT_EQ(this->table().vmm_granularity(device, &least, &best), ASSAY_OK);
  EXPECT_EQ(least, this->unit);
  EXPECT_EQ(best, this->unit);
  void* range = nullptr;
  EXPECT_EQ(this->table().vmm_reserve(device, 4096, &range), ASSAY_INVALID_VALUE);
  this->close(device);
}

// A mapping that cannot be made leaves nothing behind, and the words are those of the step that failed.
TYPED_TEST(GpuHabits, AMappingThatFailsLeavesNothingBehind) {
  assay_device* device = this->open();
  void* range = nullptr;
  assay_physical* physical = nullptr;
  ASSERT_EQ(this->table().vmm_reserve(device, 3 * this->unit, &range), ASSAY_OK);
  ASSERT_EQ(this->table().vmm_create(device, this->unit, ASSAY_OWNER_EXTERNAL, &physical), ASSAY_OK);
  this->world().fail_call("vmm_set_access", 1, 801);
  EXPECT_EQ(this->table().vmm_map(device, range, this->unit, physical), ASSAY_UNSUPPORTED);
  EXPECT_NE(this->last_error().find("grant access"), std::string::npos) << this->last_error();
  this->world().fail_call("vmm_map", 1, 2);
  EXPECT_EQ(this->table().vmm_map(device, range, this->unit, physical), ASSAY_OUT_OF_MEMORY);
  EXPECT_EQ(this->table().vmm_map(device, range, this->unit, physical), ASSAY_OK) << this->last_error();
  EXPECT_EQ(this->table().vmm_release(device, physical), ASSAY_INVALID_VALUE);
  this->world().fail_call("vmm_unmap", 1, 999);
  EXPECT_EQ(this->table().vmm_unmap(device, range, this->unit), ASSAY_INTERNAL);
  EXPECT_EQ(this->table().vmm_unmap(device, range, this->unit), ASSAY_OK);
  this->world().fail_call("vmm_unreserve", 1, 999);
  EXPECT_EQ(this->table().vmm_unreserve(device, range, 3 * this->unit), ASSAY_INTERNAL);
  EXPECT_EQ(this->table().vmm_unreserve(device, range, 3 * this->unit), ASSAY_OK);
  this->world().settings.vmm_lost_address = true;
  EXPECT_EQ(this->table().vmm_reserve(device, this->unit, &range), ASSAY_UNSUPPORTED);
  this->close(device);
}

// Several mappings side by side are unmapped as one range; a range that cuts a mapping is refused.
TYPED_TEST(GpuHabits, ARangeOfMappingsIsUnmappedAsOne) {
  assay_device* device = this->open();
  void* raw = nullptr;
  ASSERT_EQ(this->table().vmm_reserve(device, 4 * this->unit, &raw), ASSAY_OK);
  auto* range = static_cast<unsigned char*>(raw);
  std::array<assay_physical*, 2> pieces{};
  const std::array<std::size_t, 2> sizes{this->unit, 2 * this->unit};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(this->table().vmm_create(device, sizes[i], ASSAY_OWNER_EXTERNAL, &pieces[i]), ASSAY_OK);
    ASSERT_EQ(this->table().vmm_map(device, range + i * this->unit, sizes[i], pieces[i]), ASSAY_OK);
  }
  EXPECT_EQ(this->table().vmm_unmap(device, range, 2 * this->unit), ASSAY_INVALID_VALUE);
  EXPECT_EQ(this->table().vmm_map(device, range + 2 * this->unit, this->unit, pieces[0]), ASSAY_INVALID_VALUE);
  EXPECT_EQ(this->table().vmm_unmap(device, range, 3 * this->unit), ASSAY_OK) << this->last_error();
  this->close(device);
}

TYPED_TEST(GpuHabits, PoolAttributesThatAreNotKeptAreToldApart) {
  assay_device* device = this->open();
  assay_pool* pool = nullptr;
  ASSERT_EQ(this->table().pool_create(device, &pool), ASSAY_OK);
  EXPECT_EQ(this->table().pool_set(pool, ASSAY_POOL_RELEASE_THRESHOLD, 1 << 20), ASSAY_OK);
  this->world().settings.threshold_ignored = true;
  EXPECT_EQ(this->table().pool_set(pool, ASSAY_POOL_RELEASE_THRESHOLD, 1 << 20), ASSAY_UNSUPPORTED);
  std::uint64_t value = 9;
  for (const std::int32_t flag :
       {ASSAY_POOL_REUSE_FOLLOW_EVENT, ASSAY_POOL_REUSE_OPPORTUNISTIC, ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES}) {
    EXPECT_EQ(this->table().pool_set(pool, flag, 0), ASSAY_OK);
    EXPECT_EQ(this->table().pool_get(pool, flag, &value), ASSAY_OK);
    EXPECT_EQ(value, 0U);
    EXPECT_EQ(this->table().pool_set(pool, flag, 2), ASSAY_INVALID_VALUE);
  }
  EXPECT_EQ(this->table().pool_set(pool, ASSAY_POOL_USED_CURRENT, 0), ASSAY_INVALID_VALUE);
  EXPECT_EQ(this->table().pool_set(pool, ASSAY_POOL_USED_HIGH, 5), ASSAY_INVALID_VALUE);
  assay_stream* stream = this->stream(device);
  EXPECT_EQ(this->table().pool_free(pool, nullptr, stream), ASSAY_OK);  // never reaches the runtime
  this->close(device);
}

// The peak since a reset includes what was there at the reset, also where the runtime's own mark fell to zero.
TYPED_TEST(GpuHabits, AHighWaterMarkStartsAtWhatWasThere) {
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  assay_pool* pool = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(this->table().pool_create(device, &pool), ASSAY_OK);
  ASSERT_EQ(this->table().pool_malloc(pool, 1 << 20, stream, &memory), ASSAY_OK);
  for (const std::int32_t mark : {ASSAY_POOL_USED_HIGH, ASSAY_POOL_RESERVED_HIGH})
    ASSERT_EQ(this->table().pool_set(pool, mark, 0), ASSAY_OK);
  ASSERT_EQ(this->table().pool_free(pool, memory, stream), ASSAY_OK);
  ASSERT_EQ(this->table().stream_synchronize(stream), ASSAY_OK);
  ASSERT_EQ(this->table().pool_trim(pool, 0), ASSAY_OK);
  for (const std::int32_t mark : {ASSAY_POOL_USED_HIGH, ASSAY_POOL_RESERVED_HIGH}) {
    std::uint64_t value = 0;
    EXPECT_EQ(this->table().pool_get(pool, mark, &value), ASSAY_OK);
    EXPECT_EQ(value, std::uint64_t{1} << 20);
  }
  this->close(device);
}

TYPED_TEST(GpuHabits, ACaptureForbidsWhatWouldBreakIt) {
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  assay_stream* other = this->stream(device);
  void* memory = nullptr;
  void* host = nullptr;
  assay_pool* pool = nullptr;
  const auto& table = this->table();
  ASSERT_EQ(table.malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &memory), ASSAY_OK);
  ASSERT_EQ(table.host_malloc(device, 4096, &host), ASSAY_OK);
  ASSERT_EQ(table.pool_create(device, &pool), ASSAY_OK);
  ASSERT_EQ(table.graph_begin(stream), ASSAY_OK);
  void* out = nullptr;
  assay_pool* more = nullptr;
  std::int32_t supported = 0;
  EXPECT_EQ(table.graph_begin(stream), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.stream_query(stream), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.stream_synchronize(stream), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.host_malloc(device, 1, &out), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.host_free(device, host), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.pool_create(device, &more), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.pool_destroy(pool), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.pool_trim(pool, 0), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.device_capability(device, ASSAY_CAPABILITY_VMM, &supported), ASSAY_INVALID_VALUE);
  EXPECT_EQ(table.stream_synchronize(other), ASSAY_OK);
  EXPECT_EQ(table.fill(stream, memory, 1, 4096), ASSAY_OK);
  this->world().fail_call("graph_instantiate", 1, 999);
  assay_graph* graph = nullptr;
  EXPECT_EQ(table.graph_end(stream, &graph), ASSAY_INTERNAL);
  EXPECT_NE(this->last_error().find("instantiate"), std::string::npos) << this->last_error();
  ASSERT_EQ(table.graph_begin(stream), ASSAY_OK) << "the capture is over";
  ASSERT_EQ(table.graph_end(stream, &graph), ASSAY_OK);
  ASSERT_EQ(table.graph_begin(stream), ASSAY_OK);
  EXPECT_EQ(table.graph_destroy(graph), ASSAY_OK) << "does not wait for the device while it captures";
  EXPECT_EQ(table.stream_destroy(stream), ASSAY_OK) << "ends the capture";
  void* again = nullptr;
  EXPECT_EQ(table.malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &again), ASSAY_OK);
  this->close(device);
  EXPECT_EQ(this->world().live(), 0U);
}

TYPED_TEST(GpuHabits, TimeIsHandedOnAsItIsEvenWhenNegative) {
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  assay_event* start = nullptr;
  assay_event* end = nullptr;
  ASSERT_EQ(this->table().event_create(device, ASSAY_EVENT_TIMING, &start), ASSAY_OK);
  ASSERT_EQ(this->table().event_create(device, ASSAY_EVENT_TIMING, &end), ASSAY_OK);
  ASSERT_EQ(this->table().event_record(start, stream), ASSAY_OK);
  ASSERT_EQ(this->table().event_record(end, stream), ASSAY_OK);
  double ns = 5;
  EXPECT_EQ(this->table().event_elapsed(start, end, &ns), ASSAY_NOT_READY);
  EXPECT_EQ(ns, 5);
  ASSERT_EQ(this->table().stream_synchronize(stream), ASSAY_OK);
  this->world().settings.elapsed_offset_ms = -1000.0F;
  ASSERT_EQ(this->table().event_elapsed(start, end, &ns), ASSAY_OK);
  EXPECT_LT(ns, -9e8);
  this->close(device);
}

TYPED_TEST(GpuHabits, LaunchesOfShapesThatDoNotFitAreRefused) {
  static kernels::LaunchShape shape;
  static const kernels::KernelEntry row{"odd",
                                        "f32",
                                        "portable",
                                        1,
                                        sizeof(kernels::CopyParams),
                                        [](const void*, const kernels::Target&) { return shape; },
                                        this->world().kernels.entries[0].entry};
  assay_device* device = this->open();
  assay_stream* stream = this->stream(device);
  this->world().kernels = {&row, 1};
  this->world().settings.runs_kernels = false;
  const kernels::CopyParams params{nullptr, nullptr, 0};
  const auto launch = [&](std::uint64_t grid, std::uint32_t block, std::uint32_t shared) {
    shape = {grid, block, shared};
    return this->table().launch(stream, 0, &params, sizeof params);
  };
  EXPECT_EQ(launch(0, 256, 0), ASSAY_OK);
  EXPECT_EQ(launch(1, 0, 0), ASSAY_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 0), ASSAY_INVALID_VALUE);
  EXPECT_EQ(launch(std::uint64_t{1} << 31, 1, 0), ASSAY_INVALID_VALUE);
  // A dispatch of HIP counts its threads in 32 bits.
  EXPECT_EQ(launch((std::uint64_t{1} << 31) - 1, 1024, 0), TypeParam::is_amd ? ASSAY_INVALID_VALUE : ASSAY_OK);
  EXPECT_EQ(this->world().calls("allow_shared"), 0);
  EXPECT_EQ(launch(1, 64, 100 << 10), ASSAY_OK);
  EXPECT_EQ(launch(1, 64, 90 << 10), ASSAY_OK);
  EXPECT_EQ(this->world().calls("allow_shared"), 1) << "asked once for the larger";
  EXPECT_EQ(launch(1, 64, 300 << 10), ASSAY_INVALID_VALUE);
  this->close(device);
}

TYPED_TEST(GpuHabits, TheBoardIsAskedWhereTheRuntimeCannotReadMemory) {
  assay_device* device = this->open();
  void* memory = nullptr;
  ASSERT_EQ(this->table().malloc(device, 1 << 20, ASSAY_OWNER_EXTERNAL, &memory), ASSAY_OK);
  this->world().settings.memory_info_works = false;
  assay_memory_info info{};
  ASSERT_EQ(this->table().memory_info(device, &info), ASSAY_OK) << this->last_error();
  EXPECT_EQ(info.used_bytes, 1 << 20);
  EXPECT_STREQ(info.used_source, "simulated board");
  EXPECT_EQ(info.external_bytes, 1 << 20);
  this->world().settings.board_reads = false;
  EXPECT_EQ(this->table().memory_info(device, &info), ASSAY_INVALID_VALUE);
  this->world().settings.memory_info_works = true;
  ASSERT_EQ(this->table().memory_info(device, &info), ASSAY_OK);
  EXPECT_EQ(info.walked_bytes, -1);
  EXPECT_STREQ(info.used_source, "simMemGetInfo");
  this->close(device);
}

// A failed release leaves the memory in the book, so that it can be tried again and is closed at last.
TYPED_TEST(GpuHabits, AFailedFreeCanBeTriedAgain) {
  assay_device* device = this->open();
  void* memory = nullptr;
  void* host = nullptr;
  ASSERT_EQ(this->table().malloc(device, 4096, ASSAY_OWNER_EXTERNAL, &memory), ASSAY_OK);
  ASSERT_EQ(this->table().host_malloc(device, 4096, &host), ASSAY_OK);
  this->world().fail_call("free", 1, 999);
  EXPECT_EQ(this->table().free(device, memory), ASSAY_INTERNAL);
  EXPECT_EQ(this->table().free(device, memory), ASSAY_OK);
  this->world().fail_call("host_free", 1, 999);
  EXPECT_EQ(this->table().host_free(device, host), ASSAY_INTERNAL);
  EXPECT_EQ(this->table().host_free(device, host), ASSAY_OK);
  this->close(device);
}

TYPED_TEST(GpuHabits, IdentityAndSensorsOfASimulatedBoard) {
  assay_device* device = this->open();
  auto fields = this->identity(device);
  EXPECT_EQ(fields["arch"], TypeParam::is_amd ? "gfx90a" : "sm_90");
  EXPECT_EQ(fields["family"], TypeParam::is_amd ? "cdna2" : "hopper");
  EXPECT_EQ(fields["arch_features"].find(TypeParam::is_amd ? "sramecc+:xnack-" : "n/a"), 0U);
  EXPECT_EQ(fields["xnack"].find(TypeParam::is_amd ? "off" : "n/a"), 0U);
  EXPECT_EQ(fields["sramecc"].find(TypeParam::is_amd ? "on" : "n/a"), 0U);
  EXPECT_EQ(fields["wave_size"], TypeParam::is_amd ? "64" : "32");
  EXPECT_EQ(fields["runtime_version"], TypeParam::is_amd ? "5.2.21153" : "13.0");
  EXPECT_EQ(fields["driver_api_version"].find(TypeParam::is_amd ? "n/a" : "13.0"), 0U);
  EXPECT_EQ(fields["code_used"], "native");
  EXPECT_EQ(fields["pci_bdf"], "0000:41:00.0");
  EXPECT_EQ(fields["uuid"].find(TypeParam::is_amd ? "amd:" : "nvidia:"), 0U);
  EXPECT_EQ(fields["execution"], "native");
  Fields sensors;
  EXPECT_EQ(this->table().device_sensors(device, &collect_field, &sensors), ASSAY_OK);
  EXPECT_EQ(sensors["clock_khz"], "1000000");
  this->world().settings.has_uuid = false;
  this->world().settings.version = -1;
  this->world().settings.binary_version = 103;  // younger than any embedded target: PTX was translated
  this->close(device);
  device = this->open();
  fields = this->identity(device);
  EXPECT_EQ(fields["uuid"].find("unknown"), 0U);
  EXPECT_EQ(fields["runtime_version"].find("unknown"), 0U);
  EXPECT_EQ(fields["code_used"], TypeParam::is_amd ? "native" : "jit");
  this->close(device);
  this->world().kernels = {nullptr, 0};
  device = this->open();
  fields = this->identity(device);
  EXPECT_EQ(fields["code_used"].find(TypeParam::is_amd ? "native" : "unknown"), 0U);
  this->close(device);
}

}  // namespace
}  // namespace assay::test
