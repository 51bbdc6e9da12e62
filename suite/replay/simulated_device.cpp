// SPDX-License-Identifier: Apache-2.0
// The table of the simulated device.
#include "suite/replay/simulated_device.hpp"

#include <algorithm>
#include <iterator>

namespace assay::replay {
namespace {

constexpr std::uintptr_t kFirstAddress = 0x100000000000u;
constexpr std::size_t kAlignment = 4096;
constexpr std::size_t kGranularity = std::size_t{2} << 20;

thread_local const char* error_text = "";  // NOLINT: the table's contract is per thread

assay_status failure(assay_status status, const char* text) {
  error_text = text;
  return status;
}

template <class... Arguments>
assay_status unsupported(Arguments...) {
  return failure(ASSAY_UNSUPPORTED, "the simulated device has no such entry");
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}
bool whole(std::size_t bytes) {
  return bytes > 0 && bytes % kGranularity == 0;
}
std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

SimulatedDevice::SimulatedDevice(std::size_t capacity_bytes)
    : capacity_(capacity_bytes), next_address_(kFirstAddress) {}

SimulatedDevice::~SimulatedDevice() {
  for (const auto& [address, physical] : mappings_) delete physical;
}

assay_stream* SimulatedDevice::new_stream() {
  return reinterpret_cast<assay_stream*>(&streams_.emplace_back(Stream{this}));
}

void SimulatedDevice::pass(assay_stream* stream) {
  auto* own = reinterpret_cast<Stream*>(stream);
  own->passed = own->recorded;
}

void SimulatedDevice::adopt(std::uintptr_t address, std::size_t bytes) {
  live_.emplace(address, bytes);
  held_ += bytes;
}

void SimulatedDevice::drop_unused(Physical* physical) {
  if (physical->held || physical->mapped) return;
  held_ -= physical->bytes;
  delete physical;
}

// The entries, as static functions with access to the device's state.
struct SimulatedTable {
  using Stream = SimulatedDevice::Stream;
  using Event = SimulatedDevice::Event;
  using Physical = SimulatedDevice::Physical;
  static SimulatedDevice& of(assay_device* device) { return *reinterpret_cast<SimulatedDevice*>(device); }
  static Event& of(assay_event* event) { return *reinterpret_cast<Event*>(event); }
  static Stream& of(assay_stream* stream) { return *reinterpret_cast<Stream*>(stream); }
  static Physical* of(assay_physical* physical) { return reinterpret_cast<Physical*>(physical); }

  static const char* last_error() { return error_text; }

  static assay_status describe(assay_field_sink, void*) { return ASSAY_OK; }  // it is nobody's hardware

  static assay_status memory_info(assay_device* handle, assay_memory_info* out) {
    const SimulatedDevice& device = of(handle);
    *out = assay_memory_info{};
    out->total_bytes = static_cast<std::int64_t>(device.capacity_);
    out->used_bytes = out->walked_bytes = out->allocator_bytes = static_cast<std::int64_t>(device.held_);
    out->used_source = out->walked_source = out->external_source = "simulated device";
    return ASSAY_OK;
  }

  static assay_status malloc(assay_device* handle, std::size_t bytes, std::uint32_t, void** out) {
    SimulatedDevice& device = of(handle);
    if (bytes == 0) return failure(ASSAY_INVALID_VALUE, "zero bytes");
    if (!device.has_room(bytes)) return failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
    std::uintptr_t address = device.prescribed_;
    device.prescribed_ = 0;
    if (address == 0) {
      address = device.next_address_;
      device.next_address_ += round_up(bytes, kAlignment);
    }
    if (!device.live_.emplace(address, bytes).second)
      return failure(ASSAY_INVALID_VALUE, "the prescribed address is in use");
    device.held_ += bytes;
    device.last_malloc_ = bytes;
    ++device.calls_.malloc;
    *out = reinterpret_cast<void*>(address);
    return ASSAY_OK;
  }

  static assay_status free(assay_device* handle, void* pointer) {
    SimulatedDevice& device = of(handle);
    if (pointer == nullptr) return ASSAY_OK;
    const auto found = device.live_.find(address_of(pointer));
    if (found == device.live_.end()) return failure(ASSAY_INVALID_VALUE, "no such allocation");
    ++device.calls_.free;
    device.held_ -= found->second;
    device.live_.erase(found);
    return ASSAY_OK;
  }

  static assay_status stream_create(assay_device* handle, std::int32_t, assay_stream** out) {
    *out = of(handle).new_stream();
    return ASSAY_OK;
  }
  static assay_status stream_synchronize(assay_stream* stream) {
    of(stream).passed = of(stream).recorded;
    return ASSAY_OK;
  }
  static assay_status stream_query(assay_stream* stream) {
    return of(stream).passed == of(stream).recorded ? ASSAY_OK : ASSAY_NOT_READY;
  }
  static assay_status stream_wait_event(assay_stream*, assay_event*) { return ASSAY_OK; }
  static assay_status device_synchronize(assay_device* handle) {
    for (Stream& stream : of(handle).streams_) stream.passed = stream.recorded;
    return ASSAY_OK;
  }

  static assay_status event_create(assay_device* handle, std::uint32_t, assay_event** out) {
    *out = reinterpret_cast<assay_event*>(new Event{&of(handle)});
    return ASSAY_OK;
  }
  static assay_status event_destroy(assay_event* event) {
    delete &of(event);
    return ASSAY_OK;
  }
  static assay_status event_record(assay_event* event, assay_stream* stream) {
    of(event).stream = &of(stream);
    of(event).ticket = ++of(stream).recorded;
    return ASSAY_OK;
  }
  static assay_status event_query(assay_event* event) {
    const Event& own = of(event);
    return own.stream == nullptr || own.ticket <= own.stream->passed ? ASSAY_OK : ASSAY_NOT_READY;
  }
  static assay_status event_synchronize(assay_event* event) {
    const Event& own = of(event);
    if (own.stream != nullptr) own.stream->passed = std::max(own.stream->passed, own.ticket);
    return ASSAY_OK;
  }

  static assay_status vmm_granularity(assay_device*, std::size_t* minimum, std::size_t* recommended) {
    *minimum = *recommended = kGranularity;
    return ASSAY_OK;
  }
  static assay_status vmm_reserve(assay_device* handle, std::size_t bytes, void** out) {
    SimulatedDevice& device = of(handle);
    if (!whole(bytes)) return failure(ASSAY_INVALID_VALUE, "not a multiple of the granularity");
    const std::uintptr_t address = round_up(device.next_address_, kGranularity);
    if (address + bytes < address) return failure(ASSAY_MAP_LIMIT, "no addresses are left");
    device.next_address_ = address + bytes;
    device.reservations_.emplace(address, bytes);
    *out = reinterpret_cast<void*>(address);
    return ASSAY_OK;
  }
  static assay_status vmm_unreserve(assay_device* handle, void* pointer, std::size_t bytes) {
    SimulatedDevice& device = of(handle);
    const auto found = device.reservations_.find(address_of(pointer));
    if (found == device.reservations_.end() || found->second != bytes)
      return failure(ASSAY_INVALID_VALUE, "no such range");
    const auto mapped = device.mappings_.lower_bound(found->first);
    if (mapped != device.mappings_.end() && mapped->first < found->first + bytes)
      return failure(ASSAY_INVALID_VALUE, "the range still holds mappings");
    device.reservations_.erase(found);
    return ASSAY_OK;
  }
  static assay_status vmm_create(assay_device* handle, std::size_t bytes, std::uint32_t, assay_physical** out) {
    SimulatedDevice& device = of(handle);
    if (!whole(bytes)) return failure(ASSAY_INVALID_VALUE, "not a multiple of the granularity");
    if (!device.has_room(bytes)) return failure(ASSAY_OUT_OF_MEMORY, "the simulated device is full");
    device.held_ += bytes;
    *out = reinterpret_cast<assay_physical*>(new Physical{bytes});
    return ASSAY_OK;
  }
  static assay_status vmm_release(assay_device* handle, assay_physical* physical) {
    of(physical)->held = false;
    of(handle).drop_unused(of(physical));
    return ASSAY_OK;
  }
  static assay_status vmm_map(assay_device* handle, void* pointer, std::size_t bytes, assay_physical* physical) {
    SimulatedDevice& device = of(handle);
    const std::uintptr_t address = address_of(pointer);
    const auto range = device.reservations_.upper_bound(address);
    if (of(physical)->bytes != bytes || of(physical)->mapped || range == device.reservations_.begin() ||
        address + bytes > std::prev(range)->first + std::prev(range)->second)
      return failure(ASSAY_INVALID_VALUE, "not all of the memory, or outside every range");
    const auto next = device.mappings_.lower_bound(address);
    if ((next != device.mappings_.end() && next->first < address + bytes) ||
        (next != device.mappings_.begin() && std::prev(next)->first + std::prev(next)->second->bytes > address))
      return failure(ASSAY_INVALID_VALUE, "overlaps a mapping");
    ++device.calls_.map;
    of(physical)->mapped = true;
    device.mappings_.emplace_hint(next, address, of(physical));
    return ASSAY_OK;
  }
  static assay_status vmm_unmap(assay_device* handle, void* pointer, std::size_t bytes) {
    SimulatedDevice& device = of(handle);
    const auto first = device.mappings_.find(address_of(pointer));
    auto last = first;
    std::size_t found = 0;
    while (last != device.mappings_.end() && last->first == address_of(pointer) + found && found < bytes)
      found += (last++)->second->bytes;
    if (first == device.mappings_.end() || found != bytes)
      return failure(ASSAY_INVALID_VALUE, "not one or more whole mappings");
    ++device.calls_.unmap;
    for (auto mapping = first; mapping != last;) {
      Physical* physical = mapping->second;
      mapping = device.mappings_.erase(mapping);
      physical->mapped = false;
      device.drop_unused(physical);
    }
    return ASSAY_OK;
  }

  static assay_backend make() {
    assay_backend table{};
    table.size = sizeof table;
    table.abi_version = ASSAY_ABI_VERSION;
    table.last_error = last_error;
    table.describe = describe;
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
    table.stream_destroy = stream_synchronize;
    table.stream_query = stream_query;
    table.stream_synchronize = stream_synchronize;
    table.stream_wait_event = stream_wait_event;
    table.event_create = event_create;
    table.event_destroy = event_destroy;
    table.event_record = event_record;
    table.event_query = event_query;
    table.event_synchronize = event_synchronize;
    table.event_elapsed = unsupported;
    table.copy = unsupported;
    table.fill = unsupported;
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
    table.vmm_granularity = vmm_granularity;
    table.vmm_reserve = vmm_reserve;
    table.vmm_unreserve = vmm_unreserve;
    table.vmm_create = vmm_create;
    table.vmm_release = vmm_release;
    table.vmm_map = vmm_map;
    table.vmm_unmap = vmm_unmap;
    table.graph_begin = unsupported;
    table.graph_end = unsupported;
    table.graph_launch = unsupported;
    table.graph_destroy = unsupported;
    return table;
  }
};

const assay_backend& SimulatedDevice::table() {
  static const assay_backend table = SimulatedTable::make();
  return table;
}

}  // namespace assay::replay
