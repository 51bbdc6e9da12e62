// SPDX-License-Identifier: Apache-2.0
// What is particular to the host module: its options, its budget, its pools, and that closing leaves nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "tests/contract/host_support.hpp"

namespace assay::contract {
namespace {

std::ptrdiff_t count_entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

TEST(Host, ExportsItsEntryAndNothingElse) {
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  const std::string command =
      "nm -D --defined-only '" + std::string(folder != nullptr ? folder : "") + "/libassay-host.so'";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> names;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) names.emplace_back(line);
  ASSERT_EQ(::pclose(pipe), 0) << "nm (binutils) is needed";
  ASSERT_EQ(names.size(), 1u) << (names.size() > 1 ? names[1] : "");
  EXPECT_NE(names[0].find(" T " ASSAY_ENTRY_SYMBOL), std::string::npos) << names[0];
}

TEST(Host, HasTwoDevices) {
  const auto count = host_module().device_count();
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 2);
}

TEST(Host, TheBudgetIsHalfOfTheMachinesMemoryUnlessGiven) {
  const auto module = host_module();
  const auto machine = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const auto usual = read_memory(open_host(module)).total_bytes;
  EXPECT_GE(usual, machine / 2 - (std::int64_t{1} << 30));
  EXPECT_LE(usual, machine / 2 + (std::int64_t{1} << 30));
  EXPECT_EQ(read_memory(open_host(module, {{"memory_bytes", "123456789"}})).total_bytes, 123456789);
}

TEST(Host, OptionsOutsideTheirRangeAreRefusedWithTheirName) {
  const auto module = host_module();
  const device::Options wrong[] = {
      {{"memory_bytes", "0"}},
      {{"memory_bytes", "-1"}},
      {{"memory_bytes", "1e9"}},
      {{"memory_bytes", ""}},
      {{"memory_bytes", "12 "}},
      {{"memory_bytes", "9007199254740992"}},
      {{"wave", "2"}},
      {{"wave", "16"}},
      {{"threads", "-1"}},
      {{"threads", "4097"}},
      {{"block", "64"}},
      {{"wave", "32"}, {"block", "48"}},
      {{"wave", "64"}, {"block", "2048"}},
      {{"wave", "1"}, {"wave", "1"}},
      {{"Wave", "1"}},
  };
  for (const auto& options : wrong) {
    const auto device = device::Device::open(module, 0, options);
    ASSERT_FALSE(device) << options.back().first << "=" << options.back().second;
    EXPECT_EQ(device.error().code, ErrorCode::usage) << device.error().text;
    EXPECT_NE(device.error().text.find(options.back().first), std::string::npos) << device.error().text;
  }
  const device::Options right[] = {
      {{"wave", "64"}, {"block", "128"}}, {{"threads", "0"}}, {{"threads", "1"}, {"wave", "1"}}, {{"wave", "32"}}};
  for (const auto& options : right) EXPECT_TRUE(device::Device::open(module, 1, options));
}

TEST(Host, OutOfMemoryNamesRequestedUsedAndBudget) {
  const auto module = host_module();
  const auto device = open_host(module, {{"memory_bytes", "10485760"}});
  const auto kept = device.malloc(4 * kMiB, ASSAY_OWNER_EXTERNAL);
  ASSERT_TRUE(kept);
  const auto refused = device.malloc(7 * kMiB, ASSAY_OWNER_ALLOCATOR);
  ASSERT_FALSE(refused);
  for (const char* number : {"7340032", "4194304", "10485760"})
    EXPECT_NE(refused.error().text.find(number), std::string::npos) << refused.error().text;
  const auto fits = device.malloc(6 * kMiB, ASSAY_OWNER_ALLOCATOR);  // to the last byte
  ASSERT_TRUE(fits) << fits.error().text;
  EXPECT_FALSE(device.malloc(1, ASSAY_OWNER_ALLOCATOR));
  EXPECT_TRUE(device.free(*fits));
  EXPECT_TRUE(device.free(*kept));
}

TEST(Host, EachDeviceHasABudgetOfItsOwn) {
  const auto module = host_module();
  const auto first = open_host(module, {{"memory_bytes", "8388608"}});
  auto second = device::Device::open(module, 1, {{"memory_bytes", "8388608"}});
  ASSERT_TRUE(second);
  const auto all = first.malloc(8 * kMiB, ASSAY_OWNER_EXTERNAL);
  ASSERT_TRUE(all);
  EXPECT_EQ(read_memory(*second).used_bytes, 0);
  const auto other = second->malloc(8 * kMiB, ASSAY_OWNER_EXTERNAL);
  ASSERT_TRUE(other);
  EXPECT_FALSE(first.free(*other));  // memory of the other device
  EXPECT_TRUE(second->free(*other));
  EXPECT_TRUE(first.free(*all));
}

TEST(Host, MemoryReleasedWhileMappedGoesWithItsLastMapping) {
  const auto module = host_module();
  const auto device = open_host(module, {{"memory_bytes", "8388608"}});
  const auto& table = module.table();
  std::size_t granule = 0;
  std::size_t recommended = 0;
  void* range = nullptr;
  assay_physical* physical = nullptr;
  ASSERT_EQ(table.vmm_granularity(device.handle(), &granule, &recommended), ASSAY_OK);
  EXPECT_EQ(granule, 2 * kMiB);
  ASSERT_EQ(table.vmm_reserve(device.handle(), granule, &range), ASSAY_OK);
  ASSERT_EQ(table.vmm_create(device.handle(), granule, ASSAY_OWNER_ALLOCATOR, &physical), ASSAY_OK);
  ASSERT_EQ(table.vmm_map(device.handle(), range, granule, physical), ASSAY_OK);
  ASSERT_EQ(table.vmm_release(device.handle(), physical), ASSAY_OK);
  EXPECT_EQ(read_memory(device).used_bytes, static_cast<std::int64_t>(granule));
  const auto stream = device::Stream::create(device);
  ASSERT_TRUE(stream);
  ASSERT_TRUE(stream->fill(range, 7, granule));
  EXPECT_EQ(download(*stream, range, 1).front(), 7);
  ASSERT_EQ(table.vmm_unmap(device.handle(), range, granule), ASSAY_OK);
  EXPECT_EQ(read_memory(device).used_bytes, 0);
  EXPECT_EQ(read_memory(device).walked_bytes, 0);
  EXPECT_EQ(table.vmm_release(device.handle(), physical), ASSAY_INVALID_VALUE);
}

TEST(Host, FreshPhysicalMemoryIsZeroAndPiecesMayBeCreatedByTheThousand) {
  const auto module = host_module();
  const auto device = open_host(module, {{"memory_bytes", "4294967296"}});
  const auto& table = module.table();
  std::vector<assay_physical*> pieces(2000);  // more than open files are allowed to a process by default
  for (auto& piece : pieces)
    ASSERT_EQ(table.vmm_create(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &piece), ASSAY_OK)
        << table.last_error();
  for (auto* piece : pieces) ASSERT_EQ(table.vmm_release(device.handle(), piece), ASSAY_OK);
  EXPECT_EQ(read_memory(device).used_bytes, 0);
}

TEST(Host, ClosingLeavesNoThreadAndNoDescriptor) {
  const auto module = host_module();
  const auto round = [&] {
    const auto device = open_host(module, {{"memory_bytes", "67108864"}});
    assay_physical* left = nullptr;
    ASSERT_EQ(module.table().vmm_create(device.handle(), 2 * kMiB, ASSAY_OWNER_ALLOCATOR, &left), ASSAY_OK);
    ASSERT_TRUE(device.malloc(kMiB, ASSAY_OWNER_EXTERNAL));
    assay_stream* stream = nullptr;
    for (int i = 0; i < 4; ++i) ASSERT_EQ(module.table().stream_create(device.handle(), 0, &stream), ASSAY_OK);
  };
  round();
  const auto threads = count_entries("/proc/self/task");
  const auto descriptors = count_entries("/proc/self/fd");
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(count_entries("/proc/self/fd"), descriptors);
  // A thread that was joined may still be listed for a moment.
  for (int i = 0; i < 200 && count_entries("/proc/self/task") > threads; ++i) ::usleep(5000);
  EXPECT_LE(count_entries("/proc/self/task"), threads);
}

// A pool of device 0 and what it counts.
struct PoolRig {
  explicit PoolRig(const device::Module& module)
      : table(module.table()), device(open_host(module, {{"memory_bytes", "67108864"}})) {
    EXPECT_EQ(table.pool_create(device.handle(), &pool), ASSAY_OK) << table.last_error();
  }
  ~PoolRig() { EXPECT_EQ(table.pool_destroy(pool), ASSAY_OK) << table.last_error(); }
  PoolRig(const PoolRig&) = delete;
  PoolRig& operator=(const PoolRig&) = delete;

  [[nodiscard]] void* take(const device::Stream& stream, std::size_t bytes) const {
    void* out = nullptr;
    EXPECT_EQ(table.pool_malloc(pool, bytes, stream.handle(), &out), ASSAY_OK) << table.last_error();
    return out;
  }
  void give(const device::Stream& stream, void* memory) const {
    EXPECT_EQ(table.pool_free(pool, memory, stream.handle()), ASSAY_OK) << table.last_error();
  }
  [[nodiscard]] std::uint64_t reserved() const {
    std::uint64_t bytes = 0;
    EXPECT_EQ(table.pool_get(pool, ASSAY_POOL_RESERVED_CURRENT, &bytes), ASSAY_OK);
    return bytes;
  }

  const assay_backend& table;
  device::Device device;
  assay_pool* pool = nullptr;
};

TEST(HostPool, GivesBackBeyondItsThresholdWhenSomethingIsWaitedFor) {
  const auto module = host_module();
  const PoolRig rig(module);
  const auto stream = device::Stream::create(rig.device);
  ASSERT_TRUE(stream);
  rig.give(*stream, rig.take(*stream, 4 * kMiB));
  EXPECT_EQ(rig.reserved(), 4 * kMiB);  // nothing was waited for yet
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(rig.reserved(), 0u);
  EXPECT_EQ(read_memory(rig.device).used_bytes, 0);
  ASSERT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_RELEASE_THRESHOLD, 4 * kMiB), ASSAY_OK);
  rig.give(*stream, rig.take(*stream, 4 * kMiB));
  ASSERT_TRUE(rig.device.synchronize());
  EXPECT_EQ(rig.reserved(), 4 * kMiB);
  EXPECT_EQ(read_memory(rig.device).allocator_bytes, static_cast<std::int64_t>(4 * kMiB));
}

TEST(HostPool, ReusesABlockInStreamOrderAndAnotherStreamWaitsForIt) {
  const auto module = host_module();
  const PoolRig rig(module);
  const auto first = device::Stream::create(rig.device);
  const auto second = device::Stream::create(rig.device);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  void* memory = rig.take(*first, 16 * kMiB);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(first->fill(memory, 1, 16 * kMiB));
  rig.give(*first, memory);
  void* again = rig.take(*first, 16 * kMiB - 5);  // the same stream takes it at once
  EXPECT_EQ(again, memory);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(first->fill(again, 2, 16 * kMiB));
  rig.give(*first, again);
  void* elsewhere = rig.take(*second, 16 * kMiB);  // another one behind the first stream's work
  EXPECT_EQ(elsewhere, memory);
  ASSERT_TRUE(second->fill(elsewhere, 3, 16 * kMiB));
  const auto bytes = download(*second, elsewhere, 16 * kMiB);
  EXPECT_EQ(bytes.front(), 3);
  EXPECT_EQ(bytes.back(), 3);
  rig.give(*second, elsewhere);
  // Without that kind of reuse, a block whose work may be pending is left alone.
  ASSERT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_REUSE_INTERNAL_DEPENDENCIES, 0), ASSAY_OK);
  ASSERT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_REUSE_OPPORTUNISTIC, 0), ASSAY_OK);
  void* fresh = rig.take(*first, 16 * kMiB);
  EXPECT_NE(fresh, memory);
  rig.give(*first, fresh);
}

TEST(HostPool, IsEmptiedBeforeItIsOutOfMemoryAndItsBlocksAreItsOwn) {
  const auto module = host_module();
  const PoolRig rig(module);
  const auto stream = device::Stream::create(rig.device);
  ASSERT_TRUE(stream);
  ASSERT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_RELEASE_THRESHOLD, UINT64_MAX), ASSAY_OK);
  rig.give(*stream, rig.take(*stream, 40 * kMiB));
  ASSERT_TRUE(stream->synchronize());
  void* larger = rig.take(*stream, 60 * kMiB);  // of 64: only when the free block has gone back
  ASSERT_NE(larger, nullptr);
  void* none = nullptr;
  EXPECT_EQ(rig.table.pool_malloc(rig.pool, 60 * kMiB, stream->handle(), &none), ASSAY_OUT_OF_MEMORY);
  EXPECT_FALSE(rig.device.free(larger));  // free() is not for memory of a pool
  EXPECT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_REUSE_FOLLOW_EVENT, 1), ASSAY_UNSUPPORTED);
  EXPECT_EQ(rig.table.pool_set(rig.pool, ASSAY_POOL_USED_HIGH, 5), ASSAY_INVALID_VALUE);
  rig.give(*stream, larger);
  EXPECT_EQ(rig.table.pool_free(rig.pool, larger, stream->handle()), ASSAY_INVALID_VALUE);  // a second time
}

}  // namespace
}  // namespace assay::contract
