// SPDX-License-Identifier: Apache-2.0
// The simulated device table.
#include "tests/support/fake_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

namespace assay::testing {
namespace {

thread_local std::string error_text;  // NOLINT: the table's contract is per thread

assay_status failure(assay_status status, std::string text) {
  error_text = std::move(text);
  return status;
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

// Virtual memory management.
struct FakeMapping {
  using Address = std::uintptr_t;
  static constexpr std::size_t kGranularity = std::size_t{2} << 20;
  static FakeDevice& of(assay_device* device) { return *reinterpret_cast<FakeDevice*>(device); }
  static FakeDevice::Physical* of(assay_physical* physical) {
    return reinterpret_cast<FakeDevice::Physical*>(physical);
  }
  static bool whole(std::size_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

  static assay_status granularity(assay_device* handle, std::size_t* minimum, std::size_t* recommended) {
    const std::lock_guard lock(of(handle).mutex_);
    if (!of(handle).mapping_offered_) return unsupported();
    *minimum = *recommended = kGranularity;
    return ASSAY_OK;
  }
  static assay_status reserve(assay_device* handle, std::size_t bytes, void** out) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::vmm_reserve); status != ASSAY_OK) return status;
    if (!whole(bytes)) return failure(ASSAY_INVALID_VALUE, "not a multiple of the granularity");
    Address address = (device.next_address_ + kGranularity - 1) / kGranularity * kGranularity;
    if (device.memory_ == FakeDevice::Memory::host) {
      void* raw = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (raw == MAP_FAILED) return failure(ASSAY_INTERNAL, "no host addresses are left");
      address = reinterpret_cast<Address>(raw);
    } else {
      device.next_address_ = address + bytes;
    }
    device.reservations_.emplace(address, bytes);
    *out = reinterpret_cast<void*>(address);
    return ASSAY_OK;
  }
  static assay_status unreserve(assay_device* handle, void* pointer, std::size_t bytes) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::vmm_unreserve); status != ASSAY_OK) return status;
    const auto found = device.reservations_.find(reinterpret_cast<Address>(pointer));
    if (found == device.reservations_.end() || found->second != bytes)
      return failure(ASSAY_INVALID_VALUE, "no such range");
    const auto mapped = device.mappings_.lower_bound(found->first);
    if (mapped != device.mappings_.end() && mapped->first < found->first + bytes)
      return failure(ASSAY_INVALID_VALUE, "the range still holds mappings");
    if (device.memory_ == FakeDevice::Memory::host) ::munmap(pointer, bytes);
    device.reservations_.erase(found);
    return ASSAY_OK;
  }
  static assay_status create(assay_device* handle, std::size_t bytes, std::uint32_t owner, assay_physical** out) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::vmm_create); status != ASSAY_OK) return status;
    if (!whole(bytes) || owner != ASSAY_OWNER_ALLOCATOR) return failure(ASSAY_INVALID_VALUE, "wrong bytes or owner");
    const std::size_t used = device.held_ + device.foreign_;
    if (used > device.capacity_ || bytes > device.capacity_ - used)
      return failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
    auto physical = std::make_unique<FakeDevice::Physical>(FakeDevice::Physical{&device, bytes});
    device.held_ += bytes;
    *out = reinterpret_cast<assay_physical*>(physical.get());
    device.physicals_.emplace(physical.get(), std::move(physical));
    return ASSAY_OK;
  }
  static void drop_unused(FakeDevice& device, FakeDevice::Physical* physical) {
    if (physical->held || physical->mapped) return;
    device.held_ -= physical->bytes;
    device.physicals_.erase(physical);
  }
  static assay_status release(assay_device* handle, assay_physical* physical) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    const assay_status status = device.enter(Call::vmm_release);
    of(physical)->held = false;  // also after a failure: the caller has no second try
    drop_unused(device, of(physical));
    return status;
  }
  static assay_status map(assay_device* handle, void* pointer, std::size_t bytes, assay_physical* physical) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::vmm_map); status != ASSAY_OK) return status;
    const auto address = reinterpret_cast<Address>(pointer);
    const auto range = device.reservations_.upper_bound(address);
    if (of(physical)->bytes != bytes || of(physical)->mapped || range == device.reservations_.begin() ||
        address % 4096 != 0 || address + bytes > std::prev(range)->first + std::prev(range)->second)
      return failure(ASSAY_INVALID_VALUE, "not all of the memory, or outside every range");
    const auto next = device.mappings_.lower_bound(address);
    if ((next != device.mappings_.end() && next->first < address + bytes) ||
        (next != device.mappings_.begin() && std::prev(next)->first + std::prev(next)->second->bytes > address))
      return failure(ASSAY_INVALID_VALUE, "overlaps a mapping");
    if (device.memory_ == FakeDevice::Memory::host && ::mprotect(pointer, bytes, PROT_READ | PROT_WRITE) != 0)
      return failure(ASSAY_INTERNAL, "host memory is exhausted");
    of(physical)->mapped = true;
    device.mappings_.emplace(address, of(physical));
    return ASSAY_OK;
  }
  static assay_status unmap(assay_device* handle, void* pointer, std::size_t bytes) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::vmm_unmap); status != ASSAY_OK) return status;
    const auto address = reinterpret_cast<Address>(pointer);
    std::size_t found = 0;
    const auto first = device.mappings_.find(address);
    auto last = first;
    while (last != device.mappings_.end() && last->first == address + found && found < bytes)
      found += (last++)->second->bytes;
    if (first == device.mappings_.end() || found != bytes)
      return failure(ASSAY_INVALID_VALUE, "not one or more whole mappings");
    for (auto mapping = first; mapping != last;) {
      FakeDevice::Physical* physical = mapping->second;
      mapping = device.mappings_.erase(mapping);
      physical->mapped = false;
      drop_unused(device, physical);
    }
    if (device.memory_ == FakeDevice::Memory::host) {
      ::madvise(pointer, bytes, MADV_DONTNEED);
      ::mprotect(pointer, bytes, PROT_NONE);
    }
    return ASSAY_OK;
  }
};

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
    const std::size_t used = device.held_ + device.foreign_;
    if (used > device.capacity_ || bytes > device.capacity_ - used)
      return failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
    std::uintptr_t address = 0;
    if (device.memory_ == FakeDevice::Memory::host) {
      void* real = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
      if (real == nullptr) return failure(ASSAY_INTERNAL, "host memory is exhausted");
      address = reinterpret_cast<std::uintptr_t>(real);
    } else if (!device.prescribed_.empty()) {
      address = device.prescribed_.front();
      device.prescribed_.pop_front();
    } else {
      address = device.next_address_;
      device.next_address_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    device.live_.emplace(address, bytes);
    device.held_ += bytes;
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
    device.held_ -= found->second;
    device.freed_.push_back(found->first);
    device.live_.erase(found);
    if (device.memory_ == FakeDevice::Memory::host) std::free(pointer);
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
  static assay_status stream_wait_event(assay_stream*, assay_event*) { return ASSAY_OK; }
  static assay_status device_synchronize(assay_device* handle) {
    FakeDevice& device = of(handle);
    const std::lock_guard lock(device.mutex_);
    if (const assay_status status = device.enter(Call::synchronize); status != ASSAY_OK) return status;
    for (auto& stream : device.streams_) stream->finished = stream->recorded;
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
    table.pool_create = unsupported;
    table.pool_destroy = unsupported;
    table.pool_malloc = unsupported;
    table.pool_free = unsupported;
    table.pool_trim = unsupported;
    table.pool_get = unsupported;
    table.pool_set = unsupported;
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
