// SPDX-License-Identifier: Apache-2.0
// The simulated runtime: devices, memory, faults, and what its traits state of themselves.
#include "tests/support/sim_world.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/host/exec/isa.hpp"
#include "tests/support/sim_call.hpp"
#include "tests/support/sim_runtime.hpp"

namespace assay::test {

namespace {
thread_local int current_device = 0;
}

SimWorld& sim_world(Vendor vendor) {
  static SimWorld nvidia(Vendor::nvidia);
  static SimWorld amd(Vendor::amd);
  return vendor == Vendor::nvidia ? nvidia : amd;
}

void SimWorld::reset() {
  const std::lock_guard lock(mutex_);
  settings = SimSettings{};
  const auto& build = host::kernel_build();
  kernels = {build.table.data(), build.table.size()};
  calls_ = fail_after_ = violations_ = 0;
  calls_by_name_.clear();
  fail_name_.clear();
  failed_call_.clear();
  fail_code_ = kernel_fault_ = sticky_ = last_error_ = 0;
  for (auto& [pointer, block] : memory_) std::free(pointer);
  for (auto& [pointer, block] : host_) std::free(pointer);
  for (auto& [raw, pool] : pools_) {
    for (auto& [bytes, pointer] : pool->free_blocks) std::free(pointer);
    for (auto& [pointer, bytes] : pool->busy) std::free(pointer);
  }
  for (auto& [raw, physical] : physicals_) ::close(physical->descriptor);
  for (auto& [address, bytes] : reservations_) ::munmap(address, bytes);
  memory_.clear();
  host_.clear();
  streams_.clear();
  events_.clear();
  pools_.clear();
  physicals_.clear();
  graphs_.clear();
  execs_.clear();
  reservations_.clear();
  mappings_.clear();
  used_.clear();
}

void SimWorld::fail_call(const std::string& name, long nth, int code) {
  const std::lock_guard lock(mutex_);
  fail_name_ = name;
  fail_after_ = nth;
  fail_code_ = code;
  failed_call_.clear();
}

void SimWorld::fault_next_kernel(int code) {
  const std::lock_guard lock(mutex_);
  kernel_fault_ = code;
}

long SimWorld::calls(const std::string& name) const {
  const auto found = calls_by_name_.find(name);
  return found == calls_by_name_.end() ? 0 : found->second;
}

std::size_t SimWorld::live() const {
  return memory_.size() + host_.size() + streams_.size() + events_.size() + pools_.size() + physicals_.size() +
         graphs_.size() + execs_.size() + reservations_.size() + mappings_.size();
}

SimStatus SimWorld::device_count(int* out) {
  SimCall call(*this, "device_count");
  if (call.failed()) return call.failure();
  if (settings.driver) {
    *out = settings.devices;
    return call.done(0);
  }
  if (vendor == Vendor::nvidia) return call.done(35);  // and the count stays as it was
  *out = 0;
  return call.done(100);
}

SimStatus SimWorld::set_device(int ordinal) {
  SimCall call(*this, "set_device");
  if (call.failed()) return call.failure();
  if (ordinal < 0 || ordinal >= settings.devices) return call.done(101);
  current_device = ordinal;
  return call.done(0);
}

SimStatus SimWorld::properties(SimProperties* out, int ordinal) {
  SimCall call(*this, "properties");
  if (call.failed()) return call.failure();
  SimProperties p;
  const bool nvidia = vendor == Vendor::nvidia;
  std::snprintf(p.name, sizeof p.name, "Simulated %s board", nvidia ? "NVIDIA" : "AMD");
  p.totalGlobalMem = settings.total_bytes;
  p.sharedMemPerBlock = std::size_t{nvidia ? 48U : 64U} << 10;
  p.warpSize = nvidia ? 32 : 64;
  p.maxThreadsPerBlock = 1024;
  p.multiProcessorCount = 4;
  p.major = 9;  // the same pair for an H100 and an MI250X
  p.minor = 0;
  p.memoryBusWidth = 4096;
  p.l2CacheSize = 4 << 20;
  p.pciBusID = 0x41 + ordinal;
  *out = p;
  return call.done(0);
}

SimStatus SimWorld::clear_last_error() {
  const std::lock_guard lock(mutex_);
  const int answer = last_error_;
  if (vendor == Vendor::nvidia) last_error_ = sticky_;
  return static_cast<SimStatus>(answer);
}

SimStatus SimWorld::runtime_version(int* out) {
  SimCall call(*this, "runtime_version");
  if (call.failed()) return call.failure();
  const int usual = vendor == Vendor::nvidia ? 13000 : 50221153;
  *out = settings.version == 0 ? usual : settings.version < 0 ? 0 : settings.version;
  return call.done(0);
}

// HIP answers its own version here.
SimStatus SimWorld::driver_version(int* out) {
  SimCall call(*this, "driver_version");
  if (call.failed()) return call.failure();
  *out = settings.version < 0 ? 0 : vendor == Vendor::nvidia ? 13000 : 50221153;
  return call.done(0);
}

SimStatus SimWorld::device_synchronize() {
  SimCall call(*this, "device_synchronize");
  if (call.failed()) return call.failure();
  for (auto& [raw, stream] : streams_)
    if (stream->capturing && stream->device == current_device) {
      ++violations_;
      return call.done(900);
    }
  drain_device(current_device);
  return call.done(0);
}

SimStatus SimWorld::can_access_peer(int* out, int from, int to) {
  SimCall call(*this, "can_access_peer");
  if (call.failed()) return call.failure();
  *out = settings.peers && from != to ? 1 : 0;
  return call.done(0);
}

SimStatus SimWorld::memory_info(std::size_t* free_bytes, std::size_t* total) {
  SimCall call(*this, "memory_info");
  if (call.failed()) return call.failure();
  if (!settings.memory_info_works) return call.done(1);
  *total = settings.total_bytes;
  *free_bytes = settings.total_bytes - used_[current_device];
  return call.done(0);
}

bool SimWorld::take(std::size_t bytes, int device) {
  auto& used = used_[device];
  if (bytes > settings.total_bytes || used > settings.total_bytes - bytes) return false;
  used += bytes;
  return true;
}

SimStatus SimWorld::malloc(void** out, std::size_t bytes) {
  SimCall call(*this, "malloc");
  if (call.failed()) return call.failure();
  for (auto& [raw, stream] : streams_) violations_ += stream->capturing && stream->device == current_device ? 1 : 0;
  const std::size_t rounded = (bytes + 511) / 512 * 512;
  if (bytes > settings.total_bytes || !take(rounded, current_device)) return call.done(2);
  *out = std::aligned_alloc(512, rounded);
  std::memset(*out, 0xCD, rounded);  // neither runtime promises zeros
  memory_[*out] = {rounded, current_device};
  return call.done(0);
}

// Both vendors' free waits for the whole device.
SimStatus SimWorld::free(void* pointer) {
  SimCall call(*this, "free");
  if (call.failed()) return call.failure();
  if (pointer == nullptr) return call.done(0);
  const auto found = memory_.find(pointer);
  if (found == memory_.end()) return call.done(1);
  for (auto& [raw, stream] : streams_) violations_ += stream->capturing && stream->device == current_device ? 1 : 0;
  drain_device(found->second.device);
  used_[found->second.device] -= found->second.bytes;
  std::free(pointer);
  memory_.erase(found);
  return call.done(0);
}

SimStatus SimWorld::host_malloc(void** out, std::size_t bytes) {
  SimCall call(*this, "host_malloc");
  if (call.failed()) return call.failure();
  *out = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  host_[*out] = {bytes, current_device};
  return call.done(*out == nullptr ? 2 : 0);
}

SimStatus SimWorld::host_free(void* pointer) {
  SimCall call(*this, "host_free");
  if (call.failed()) return call.failure();
  if (host_.erase(pointer) == 0) return call.done(1);
  drain_device(current_device);
  std::free(pointer);
  return call.done(0);
}

const char* sim_error_name(int code) {
  switch (code) {
    case 0:
      return "simSuccess";
    case 1:
      return "simErrorInvalidValue";
    case 2:
      return "simErrorMemoryAllocation";
    case 35:
      return "simErrorInsufficientDriver";
    case 100:
      return "simErrorNoDevice";
    case 700:
      return "simErrorIllegalAddress";
    default:
      return "simErrorOther";
  }
}

const gpu::BuildFacts& sim_build_facts(Vendor vendor) {
  static const gpu::BuildFacts nvidia{"13.0", "simulator", "none", "none", "contract=on", "sm_80,sm_90,compute_90", ""};
  static const gpu::BuildFacts amd{"5.2.21153", "simulator", "none", "none", "contract=on", "gfx90a,gfx1030", "4"};
  return vendor == Vendor::nvidia ? nvidia : amd;
}

namespace {

class SimBoard final : public gpu::Board {
 public:
  SimBoard(Vendor vendor, gpu::BoardQuery query) : world_(sim_world(vendor)), query_(std::move(query)) {}
  std::string uuid() override { return query_.uuid; }
  void identity(const gpu::FieldWriter& out) override {
    out.text("pci_vendor", world_.vendor == Vendor::nvidia ? "0x10de" : "0x1002", "simulated board");
  }
  void sensors(const gpu::FieldWriter& out) override {
    out.integer("clock_khz", 1000000, "simulated board");
    out.text("throttle_reasons", "none", "simulated board");
  }
  gpu::Reading used_bytes() override { return reading(); }
  gpu::Reading process_bytes() override { return reading(); }

 private:
  gpu::Reading reading() {
    if (!world_.settings.board_reads) return {std::nullopt, "the simulated board does not tell"};
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    const bool works = std::exchange(world_.settings.memory_info_works, true);
    const auto status = world_.memory_info(&free_bytes, &total);
    world_.settings.memory_info_works = works;
    if (status != 0) return {std::nullopt, "the simulated board does not answer"};
    return {static_cast<std::int64_t>(total - free_bytes), "simulated board"};
  }

  SimWorld& world_;
  gpu::BoardQuery query_;
};

}  // namespace

std::unique_ptr<gpu::Board> open_sim_board(Vendor vendor, const gpu::BoardQuery& query) {
  return std::make_unique<SimBoard>(vendor, query);
}

// Of the calling thread.
int sim_current_device() {
  return current_device;
}

}  // namespace assay::test
