// SPDX-License-Identifier: Apache-2.0
// The simulated device table.
#include "tests/support/fake_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "tests/support/fake_mapping.hpp"
#include "tests/support/fake_pool.hpp"

namespace assay::testing {
namespace {

thread_local std::string error_text;  // NOLINT: the table's contract is per thread

}  // namespace

assay_status fake_failure(assay_status status, std::string text) {
  error_text = std::move(text);
  return status;
}

namespace {

assay_status failure(assay_status status, std::string text) {
  return fake_failure(status, std::move(text));
}

template <class... Arguments>
assay_status unsupported(Arguments...) {
  return failure(ASSAY_UNSUPPORTED, "the simulated device has no such entry");
}

constexpr std::uintptr_t kFirstAddress = 0x100000000000u;
constexpr std::size_t kAlignment = 4096;

}  // namespace

FakeDevice::FakeDevice(std::size_t capacity_bytes, Memory memory)
    : capacity_(capacity_bytes), memory_(memory), next_address_(kFirstAddress) {}

FakeDevice::~FakeDevice() {
  if (memory_ == Memory::host)
    for (const auto& [address, bytes] : live_) std::free(reinterpret_cast<void*>(address));
  if (memory_ == Memory::host)
    for (const auto& [address, bytes] : reservations_) ::munmap(reinterpret_cast<void*>(address), bytes);
}

void FakeDevice::offer_mapping(bool offered) {
  const std::lock_guard lock(mutex_);
  mapping_offered_ = offered;
}

std::size_t FakeDevice::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [address, physical] : mappings_) bytes += physical->bytes;
  return bytes;
}

std::size_t FakeDevice::reservations() const {
  const std::lock_guard lock(mutex_);
  return reservations_.size();
}

assay_stream* FakeDevice::new_stream() {
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::make_unique<Stream>(Stream{this}));
  return reinterpret_cast<assay_stream*>(streams_.back().get());
}

void FakeDevice::finish(assay_stream* stream) {
  const std::lock_guard lock(mutex_);
  auto* own = reinterpret_cast<Stream*>(stream);
  own->finished = own->recorded;
}

bool FakeDevice::idle(assay_stream* stream) const {
  const std::lock_guard lock(mutex_);
  const auto* own = reinterpret_cast<const Stream*>(stream);
  return own->finished == own->recorded;
}

void FakeDevice::finish_one(assay_stream* stream) {
  const std::lock_guard lock(mutex_);
  auto* own = reinterpret_cast<Stream*>(stream);
  if (own->finished < own->recorded) ++own->finished;
}

void FakeDevice::finish_at_record(bool always) {
  const std::lock_guard lock(mutex_);
  finish_at_record_ = always;
}

void FakeDevice::fail(Call call, std::size_t nth, assay_status status, bool and_after) {
  const std::lock_guard lock(mutex_);
  plans_[static_cast<std::size_t>(call)] = {nth, and_after, false, status};
}

void FakeDevice::fail_any(std::size_t nth, assay_status status) {
  const std::lock_guard lock(mutex_);
  any_ = {nth, false, false, status};
  any_failed_ = false;
}

void FakeDevice::stop_failing() {
  const std::lock_guard lock(mutex_);
  plans_.fill({});
  any_ = {};
}

bool FakeDevice::failed_any() const {
  const std::lock_guard lock(mutex_);
  return any_failed_;
}

void FakeDevice::hand_out(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  prescribed_.push_back(address);
}

void FakeDevice::adopt(std::uintptr_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  live_.emplace(address, bytes);
  held_ += bytes;
}

void FakeDevice::set_foreign_bytes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  foreign_ = bytes;
}

std::size_t FakeDevice::calls(Call call) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(call)];
}

std::size_t FakeDevice::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

std::size_t FakeDevice::events() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

std::vector<std::size_t> FakeDevice::malloc_sizes() const {
  const std::lock_guard lock(mutex_);
  return malloc_sizes_;
}

std::vector<std::uintptr_t> FakeDevice::freed_addresses() const {
  const std::lock_guard lock(mutex_);
  return freed_;
}

bool FakeDevice::due(Plan& plan) {
  if (plan.firing && plan.and_after) return true;
  if (plan.countdown == 0 || --plan.countdown > 0) return false;
  plan.firing = true;
  return true;
}

assay_status FakeDevice::enter(Call call) {
  ++calls_[static_cast<std::size_t>(call)];
  Plan& plan = plans_[static_cast<std::size_t>(call)];
  if (due(plan)) return failure(plan.status, "a failure made by the test");
  if (call != Call::event_destroy && call != Call::memory_info && due(any_)) {
    any_failed_ = true;
    return failure(any_.status, "a failure made by the test");
  }
  return ASSAY_OK;
}

assay_status FakeDevice::lend(std::size_t bytes, std::uintptr_t* address) {
  const std::size_t used = held_ + foreign_;
  if (used > capacity_ || bytes > capacity_ - used) return failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (memory_ == Memory::host) {
    void* real = std::aligned_alloc(kAlignment, whole);
    if (real == nullptr) return failure(ASSAY_INTERNAL, "host memory is exhausted");
    *address = reinterpret_cast<std::uintptr_t>(real);
  } else if (!prescribed_.empty()) {
    *address = prescribed_.front();
    prescribed_.pop_front();
  } else {
    *address = next_address_;
    next_address_ += whole;
  }
  live_.emplace(*address, bytes);
  held_ += bytes;
  return ASSAY_OK;
}

void FakeDevice::take_back(std::uintptr_t address) {
  const auto found = live_.find(address);
  held_ -= found->second;
  live_.erase(found);
  if (memory_ == Memory::host) std::free(reinterpret_cast<void*>(address));
}

// The entries, as static functions with access to the device's state.
struct FakeTable {
  static FakeDevice& of(assay_device* device) { return *reinterpret_cast<FakeDevice*>(device); }
  static FakeDevice::Event& of(assay_event* event) { return *reinterpret_cast<FakeDevice::Event*>(event); }
  static FakeDevice::Stream& of(assay_stream* stream) { return *reinterpret_cast<FakeDevice::Stream*>(stream); }

  static const char* last_error() { return error_text.c_str(); }

  static assay_status memory_info(assay_device* handle, assay_memory_info* out) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::memory_info); status != ASSAY_OK) return status;
    out->total_bytes = static_cast<std::int64_t>(device.capacity_);
    out->used_bytes = static_cast<std::int64_t>(device.held_ + device.foreign_);
    out->walked_bytes = out->used_bytes;
    out->allocator_bytes = static_cast<std::int64_t>(device.held_);
    out->external_bytes = static_cast<std::int64_t>(device.foreign_);
    out->used_source = out->walked_source = out->external_source = "simulated device";
    return ASSAY_OK;
  }

  static assay_status malloc(assay_device* handle, std::size_t bytes, std::uint32_t owner, void** out) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::malloc); status != ASSAY_OK) return status;
    if (bytes == 0 || owner != ASSAY_OWNER_ALLOCATOR) return failure(ASSAY_INVALID_VALUE, "zero bytes or wrong owner");
    std::uintptr_t address = 0;
    if (const assay_status status = device.lend(bytes, &address); status != ASSAY_OK) return status;
    device.malloc_sizes_.push_back(bytes);
    *out = reinterpret_cast<void*>(address);
    return ASSAY_OK;
  }

  static assay_status free(assay_device* handle, void* pointer) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::free); status != ASSAY_OK) return status;
    if (pointer == nullptr) return ASSAY_OK;
    const auto found = device.live_.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == device.live_.end()) return failure(ASSAY_INVALID_VALUE, "no such allocation");
    device.freed_.push_back(found->first);
    device.take_back(found->first);
    return ASSAY_OK;
  }

  static assay_status stream_create(assay_device* handle, std::int32_t, assay_stream** out) {
    *out = of(handle).new_stream();
    return ASSAY_OK;
  }
  static assay_status stream_destroy(assay_stream* stream) { return stream_synchronize(stream); }
  static assay_status stream_synchronize(assay_stream* stream) {
    FakeDevice& device = *of(stream).device;
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::synchronize); status != ASSAY_OK) return status;
    of(stream).finished = of(stream).recorded;
    return ASSAY_OK;
  }
  static assay_status stream_wait_event(assay_stream* stream, assay_event* event) {
    const std::lock_guard lock(of(stream).device->mutex_);
    auto& waits = of(stream).waits;
    const auto over = [](const auto& wait) { return wait.first->finished >= wait.second; };
    waits.erase(std::remove_if(waits.begin(), waits.end(), over), waits.end());
    if (of(event).stream != nullptr) waits.emplace_back(of(event).stream, of(event).ticket);
    return ASSAY_OK;
  }
  static assay_status device_synchronize(assay_device* handle) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::synchronize); status != ASSAY_OK) return status;
    for (auto& stream : device.streams_) stream->finished = stream->recorded;
    FakePool::waited(device);
    return ASSAY_OK;
  }

  static assay_status event_create(assay_device* handle, std::uint32_t, assay_event** out) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::event_create); status != ASSAY_OK) return status;
    auto event = std::make_unique<FakeDevice::Event>(FakeDevice::Event{&device});
    *out = reinterpret_cast<assay_event*>(event.get());
    device.events_.emplace(event.get(), std::move(event));
    return ASSAY_OK;
  }
  static assay_status event_destroy(assay_event* handle) {
    FakeDevice& device = *of(handle).device;
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::event_destroy); status != ASSAY_OK) return status;
    device.events_.erase(&of(handle));
    return ASSAY_OK;
  }
  static assay_status event_record(assay_event* handle, assay_stream* stream) {
    FakeDevice::Event& event = of(handle);
    const std::lock_guard lock(event.device->mutex_);
    if (const assay_status status = event.device->enter(Call::event_record); status != ASSAY_OK) return status;
    event.stream = &of(stream);
    event.ticket = ++event.stream->recorded;
    if (event.device->finish_at_record_) event.stream->finished = event.ticket;
    return ASSAY_OK;
  }
  static assay_status event_query(assay_event* handle) {
    FakeDevice::Event& event = of(handle);
    const std::lock_guard lock(event.device->mutex_);
    if (const assay_status status = event.device->enter(Call::event_query); status != ASSAY_OK) return status;
    const bool complete = event.stream == nullptr || event.ticket <= event.stream->finished;
    return complete ? ASSAY_OK : ASSAY_NOT_READY;
  }
  static assay_status event_synchronize(assay_event* handle) {
    FakeDevice::Event& event = of(handle);
    const std::lock_guard lock(event.device->mutex_);
    if (const assay_status status = event.device->enter(Call::event_synchronize); status != ASSAY_OK) return status;
    if (event.stream != nullptr) event.stream->finished = std::max(event.stream->finished, event.ticket);
    return ASSAY_OK;
  }

  static assay_status copy(assay_stream* stream, void* to, const void* from, std::size_t bytes, std::int32_t) {
    if (of(stream).device->memory_ != FakeDevice::Memory::host) return unsupported();
    std::memmove(to, from, bytes);
    return ASSAY_OK;
  }
  static assay_status fill(assay_stream* stream, void* to, std::uint8_t value, std::size_t bytes) {
    if (of(stream).device->memory_ != FakeDevice::Memory::host) return unsupported();
    std::memset(to, value, bytes);
    return ASSAY_OK;
  }

  static assay_backend make() {
    assay_backend table{};
    table.size = sizeof table;
    table.abi_version = ASSAY_ABI_VERSION;
    table.last_error = last_error;
    table.describe = unsupported;
    table.kernel_count = unsupported;
    table.kernel_info = unsupported;
    table.device_count = unsupported;
    table.device_open = unsupported;
    table.device_close = unsupported;
    table.device_identity = unsupported;
    table.device_sensors = unsupported;
    table.device_capability = unsupported;
    table.device_synchronize = device_synchronize;
    table.memory_info = memory_info;
    table.malloc = malloc;
    table.free = free;
    table.host_malloc = unsupported;
    table.host_free = unsupported;
    table.stream_create = stream_create;
    table.stream_destroy = stream_destroy;
    table.stream_query = unsupported;
    table.stream_synchronize = stream_synchronize;
    table.stream_wait_event = stream_wait_event;
    table.event_create = event_create;
    table.event_destroy = event_destroy;
    table.event_record = event_record;
    table.event_query = event_query;
    table.event_synchronize = event_synchronize;
    table.event_elapsed = unsupported;
    table.copy = copy;
    table.fill = fill;
    table.peer_copy = unsupported;
    table.kernel_resources = unsupported;
    table.launch = unsupported;
    table.pool_create = FakePool::create;
    table.pool_destroy = FakePool::destroy;
    table.pool_malloc = FakePool::allocate;
    table.pool_free = FakePool::free;
    table.pool_trim = FakePool::trim;
    table.pool_get = FakePool::get;
    table.pool_set = FakePool::set;
    table.vmm_granularity = FakeMapping::granularity;
    table.vmm_reserve = FakeMapping::reserve;
    table.vmm_unreserve = FakeMapping::unreserve;
    table.vmm_create = FakeMapping::create;
    table.vmm_release = FakeMapping::release;
    table.vmm_map = FakeMapping::map;
    table.vmm_unmap = FakeMapping::unmap;
    table.graph_begin = unsupported;
    table.graph_end = unsupported;
    table.graph_launch = unsupported;
    table.graph_destroy = unsupported;
    return table;
  }
};

const assay_backend& FakeDevice::table() {
  static const assay_backend table = FakeTable::make();
  return table;
}

}  // namespace assay::testing
