// SPDX-License-Identifier: Apache-2.0
// A kernel that really faults on the host: the failure arrives on its stream, sticks to its device and to no other.
#include <gtest/gtest.h>

#include <new>

#include "backends/host/entries.hpp"
#include "backends/host/exec/executor.hpp"
#include "backends/host/exec/isa.hpp"
#include "backends/host/kernel_table.hpp"
#include "tests/contract/parts/fixture.hpp"

namespace assay::host {

// The host's code is linked here with these kernels instead of its own: one that works, one that faults, one that
// throws.
namespace {
struct Params {
  std::int32_t grid;
};
kernels::LaunchShape shape(const void* params, const kernels::Target&) {
  return {static_cast<std::uint64_t>(static_cast<const Params*>(params)->grid), 1, 0};
}
constexpr kernels::KernelEntry kTable[] = {
    {"works", "f32", "portable", 1, sizeof(Params), shape, nullptr},
    {"faults", "f32", "portable", 1, sizeof(Params), shape, nullptr},
    {"throws", "f32", "portable", 1, sizeof(Params), shape, nullptr},
};
}  // namespace

std::span<const kernels::KernelEntry> kernel_table() {
  return kTable;
}
std::span<const KernelBuild> kernel_builds() {
  static constexpr KernelBuild builds[] = {{"none", "", {}}};
  return builds;
}
const KernelBuild& kernel_build() {
  return kernel_builds().front();
}
bool cpu_runs(const KernelBuild&) {
  return true;
}
kernels::Target Executor::target() const {
  return {1, 1, 1};
}
bool Executor::run(const kernels::KernelEntry& entry, const void*, std::string* failure) const {
  if (&entry == kTable) return true;
  if (&entry == kTable + 2) throw std::bad_alloc();
  *failure = "kernel faults: 3 of 32 threads did not reach a barrier";
  return false;
}

}  // namespace assay::host

namespace assay::contract {
namespace {

TEST(HostKernelFault, ArrivesOnTheStreamSticksAndSparesTheOtherDevice) {
  const auto module = device::Module::wrap(&host::host_table());
  ASSERT_TRUE(module);
  auto broken = device::Device::open(*module, 0);
  auto sound = device::Device::open(*module, 1);
  ASSERT_TRUE(broken);
  ASSERT_TRUE(sound);
  auto stream = device::Stream::create(*broken);
  auto other = device::Stream::create(*sound);
  auto event = device::Event::create(*broken);
  ASSERT_TRUE(stream);
  ASSERT_TRUE(other);
  ASSERT_TRUE(event);
  const auto memory = broken->malloc(kMiB, ASSAY_OWNER_ALLOCATOR);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(stream->fill(*memory, 1, kMiB));
  ASSERT_TRUE(stream->launch(0, host::Params{4}));
  ASSERT_TRUE(stream->launch(1, host::Params{0}));  // an empty grid runs nothing, so nothing faults
  ASSERT_TRUE(stream->synchronize());
  ASSERT_TRUE(stream->launch(1, host::Params{1}));  // a launch only submits,
  const auto synchronized = stream->synchronize();  // the fault arrives with the waiting
  ASSERT_FALSE(synchronized);
  EXPECT_EQ(synchronized.error().code, ErrorCode::fault);
  EXPECT_NE(synchronized.error().text.find("did not reach a barrier"), std::string::npos) << synchronized.error().text;

  const auto expect_fault = [](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::fault) << result.error().text;
  };
  expect_fault(broken->synchronize());
  expect_fault(broken->malloc(1, ASSAY_OWNER_EXTERNAL));
  expect_fault(broken->identity());
  expect_fault(broken->capability(ASSAY_CAPABILITY_VMM));
  expect_fault(device::Stream::create(*broken));
  expect_fault(device::Event::create(*broken));
  expect_fault(event->record(*stream));
  expect_fault(event->finished());
  expect_fault(event->synchronize());
  expect_fault(stream->finished());
  expect_fault(stream->fill(*memory, 2, 1));
  expect_fault(stream->launch(0, host::Params{1}));
  const auto info = broken->memory_info();  // the last counters can be read
  ASSERT_TRUE(info) << info.error().text;
  EXPECT_EQ(info->allocator_bytes, static_cast<std::int64_t>(kMiB));

  ASSERT_TRUE(other->launch(0, host::Params{1}));
  EXPECT_TRUE(other->synchronize());
  EXPECT_TRUE(sound->identity());
  auto again = device::Device::open(*module, 0);
  EXPECT_TRUE(again);
}

TEST(HostKernelFault, AnExceptionInTheWorkIsAFaultAndNotTheEndOfTheProcess) {
  const auto module = device::Module::wrap(&host::host_table());
  ASSERT_TRUE(module);
  auto device = device::Device::open(*module, 0);
  ASSERT_TRUE(device);
  auto stream = device::Stream::create(*device);
  ASSERT_TRUE(stream);
  ASSERT_TRUE(stream->launch(2, host::Params{1}));
  const auto synchronized = stream->synchronize();
  ASSERT_FALSE(synchronized);
  EXPECT_EQ(synchronized.error().code, ErrorCode::fault);
  EXPECT_NE(synchronized.error().text.find("bad_alloc"), std::string::npos) << synchronized.error().text;
}

TEST(HostKernelFault, QueuedWorkIsDroppedAndWaitersWake) {
  const auto module = device::Module::wrap(&host::host_table());
  ASSERT_TRUE(module);
  auto device = device::Device::open(*module, 0);
  ASSERT_TRUE(device);
  auto first = device::Stream::create(*device);
  auto second = device::Stream::create(*device);
  auto event = device::Event::create(*device);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  ASSERT_TRUE(event);
  std::vector<std::uint8_t> host(16, 9);
  const auto memory = device->malloc(16, ASSAY_OWNER_ALLOCATOR);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(first->fill(*memory, 5, 16));
  ASSERT_TRUE(first->launch(1, host::Params{1}));
  // Whether these are still accepted depends on whether the fault was already noticed; none of them may have an effect.
  static_cast<void>(event->record(*first));
  static_cast<void>(second->wait(*event));
  static_cast<void>(first->copy(host.data(), *memory, 16, ASSAY_COPY_DEVICE_TO_HOST));
  EXPECT_FALSE(first->synchronize());
  EXPECT_FALSE(second->synchronize());
  EXPECT_EQ(host, std::vector<std::uint8_t>(16, 9));
}

}  // namespace
}  // namespace assay::contract
