// SPDX-License-Identifier: Apache-2.0
// Capabilities, each found by doing the thing once: an attribute alone has said yes where the call then failed.
#pragma once

#include <algorithm>

#include "backends/gpu/device.hpp"

namespace assay::gpu {

// A stream of the probe's own, closed on every way out.
template <GpuRuntime Rt>
class ProbeStream {
 public:
  explicit ProbeStream(DeviceState<Rt>& device) : device_(device) {
    status_ = device.check("create a stream", Rt::stream_create(&stream_, 0));
  }
  ProbeStream(const ProbeStream&) = delete;
  ProbeStream& operator=(const ProbeStream&) = delete;
  ~ProbeStream() {
    if (status_ == ASSAY_OK) static_cast<void>(device_.check("destroy a stream", Rt::stream_destroy(stream_)));
  }
  [[nodiscard]] assay_status status() const { return status_; }
  [[nodiscard]] typename Rt::Stream handle() const { return stream_; }

 private:
  DeviceState<Rt>& device_;
  typename Rt::Stream stream_{};
  assay_status status_ = ASSAY_OK;
};

// Fills `bytes` at `pointer` through `stream` and reads the last word back.
template <GpuRuntime Rt>
assay_status touch(DeviceState<Rt>& device, void* pointer, std::size_t bytes, typename Rt::Stream stream) {
  // In the device's state: a copy that could not be waited for may still arrive later.
  std::uint32_t& word = device.probe_word;
  word = 0;
  if (const assay_status status = device.check("fill", Rt::fill(pointer, 0x5A, bytes, stream)); status != ASSAY_OK)
    return status;
  const auto* last = static_cast<const unsigned char*>(pointer) + bytes - sizeof(word);
  if (const assay_status status = device.check("copy", Rt::copy(&word, last, sizeof(word), Rt::device_to_host, stream));
      status != ASSAY_OK)
    return status;
  if (const assay_status status = device.check("wait for a stream", Rt::stream_synchronize(stream)); status != ASSAY_OK)
    return status;
  if (word != 0x5A5A5A5AU) return refuse<Rt>(ASSAY_UNSUPPORTED, "memory that was filled reads back other bytes");
  return ASSAY_OK;
}

// What sizes of virtual memory are multiples of. A runtime may answer its page size (4 KiB), which some of its versions
// then refuse: never less than Rt::vmm_minimum_bytes.
template <GpuRuntime Rt>
assay_status granularity(DeviceState<Rt>& device, bool recommended, std::size_t* out) {
  std::size_t bytes = 0;
  if (const assay_status status = device.check("read the granularity of virtual memory",
                                               Rt::vmm_granularity(&bytes, recommended, device.ordinal));
      status != ASSAY_OK)
    return status;
  *out = std::max(bytes, Rt::vmm_minimum_bytes);
  return ASSAY_OK;
}

// create, reserve, map, grant, fill, read back, then all of it undone. The first failure is the answer.
template <GpuRuntime Rt>
assay_status probe_vmm(DeviceState<Rt>& device) {
  int offered = 0;
  if (const assay_status status = device.check("read an attribute", Rt::vmm_attribute(&offered, device.ordinal));
      status != ASSAY_OK)
    return status;
  if (offered == 0) return refuse<Rt>(ASSAY_UNSUPPORTED, "the runtime's attribute says that virtual memory is missing");
  std::size_t bytes = 0;
  if (const assay_status status = granularity(device, false, &bytes); status != ASSAY_OK) return status;
  const ProbeStream<Rt> stream(device);
  if (stream.status() != ASSAY_OK) return stream.status();
  typename Rt::Physical physical{};
  if (const assay_status status =
          device.check("create physical memory", Rt::vmm_create(&physical, bytes, device.ordinal));
      status != ASSAY_OK)
    return status;
  void* address = nullptr;
  assay_status result = device.check("reserve addresses", Rt::vmm_reserve(&address, bytes, bytes));
  if (result == ASSAY_OK && address == nullptr)  // seen before ROCm 6.1: success without an address
    result = refuse<Rt>(ASSAY_UNSUPPORTED, "the runtime reserved no addresses though it reported success");
  if (result == ASSAY_OK) {
    result = device.check("map physical memory", Rt::vmm_map(address, bytes, physical));
    if (result == ASSAY_OK) {
      result = device.check("grant access to mapped memory", Rt::vmm_set_access(address, bytes, device.ordinal));
      if (result == ASSAY_OK) result = touch(device, address, bytes, stream.handle());
      const assay_status unmapped = device.check("unmap memory", Rt::vmm_unmap(address, bytes));
      if (result == ASSAY_OK) result = unmapped;
    }
    const assay_status unreserved = device.check("give addresses back", Rt::vmm_unreserve(address, bytes));
    if (result == ASSAY_OK) result = unreserved;
  }
  const assay_status released = device.check("release physical memory", Rt::vmm_release(physical));
  return result == ASSAY_OK ? released : result;
}

// The pool attribute is not asked: until ROCm 6.1 it says no where the calls work, and a yes proves nothing.
template <GpuRuntime Rt>
assay_status probe_pool(DeviceState<Rt>& device) {
  const ProbeStream<Rt> stream(device);
  if (stream.status() != ASSAY_OK) return stream.status();
  typename Rt::Pool pool{};
  if (const assay_status status = device.check("create a pool", Rt::pool_create(&pool, device.ordinal));
      status != ASSAY_OK)
    return status;
  constexpr std::size_t bytes = 4096;
  void* pointer = nullptr;
  assay_status result = device.check("allocate from a pool", Rt::pool_malloc(&pointer, bytes, pool, stream.handle()));
  if (result == ASSAY_OK) {
    result = touch(device, pointer, bytes, stream.handle());
    const assay_status freed = device.check("free to a pool", Rt::pool_free(pointer, stream.handle()));
    const assay_status waited = device.check("wait for a stream", Rt::stream_synchronize(stream.handle()));
    if (result == ASSAY_OK) result = freed != ASSAY_OK ? freed : waited;
  }
  const assay_status destroyed = device.check("destroy a pool", Rt::pool_destroy(pool));
  return result == ASSAY_OK ? destroyed : result;
}

// Captures one fill, replays it, and looks at the memory.
template <GpuRuntime Rt>
assay_status probe_graph_on(DeviceState<Rt>& device, void* memory, std::size_t bytes, typename Rt::Stream stream) {
  assay_status result = device.check("begin a capture", Rt::capture_begin(stream));
  if (result != ASSAY_OK) return result;
  result = device.check("fill", Rt::fill(memory, 0x5A, bytes, stream));
  typename Rt::Graph graph{};
  const assay_status ended = device.check("end a capture", Rt::capture_end(stream, &graph));
  if (result == ASSAY_OK) result = ended;
  typename Rt::GraphExec exec{};
  if (result == ASSAY_OK) {
    result = device.check("instantiate a graph", Rt::graph_instantiate(&exec, graph));
    if (result == ASSAY_OK) {
      result = device.check("launch a graph", Rt::graph_launch(exec, stream));
      const assay_status waited = device.check("wait for a stream", Rt::stream_synchronize(stream));
      const assay_status destroyed = device.check("destroy a graph", Rt::graph_exec_destroy(exec));
      if (result == ASSAY_OK) result = waited != ASSAY_OK ? waited : destroyed;
    }
  }
  if (ended == ASSAY_OK) {
    const assay_status destroyed = device.check("destroy a graph", Rt::graph_destroy(graph));
    if (result == ASSAY_OK) result = destroyed;
  }
  return result;
}

template <GpuRuntime Rt>
assay_status probe_graph(DeviceState<Rt>& device) {
  const ProbeStream<Rt> stream(device);
  if (stream.status() != ASSAY_OK) return stream.status();
  constexpr std::size_t bytes = 256;
  void* memory = nullptr;
  if (const assay_status status = device.check("allocate device memory", Rt::malloc(&memory, bytes));
      status != ASSAY_OK)
    return status;
  const assay_status result = probe_graph_on(device, memory, bytes, stream.handle());
  const assay_status freed = device.check("free device memory", Rt::free(memory));
  return result == ASSAY_OK ? freed : result;
}

// Whether some other device of this runtime can be reached directly.
template <GpuRuntime Rt>
assay_status probe_peer(DeviceState<Rt>& device) {
  int count = 0;
  if (const assay_status status = device.check("count devices", Rt::device_count(&count)); status != ASSAY_OK)
    return status;
  for (int other = 0; other < count; ++other) {
    if (other == device.ordinal) continue;
    int reachable = 0;
    if (const assay_status status =
            device.check("ask for peer access", Rt::can_access_peer(&reachable, device.ordinal, other));
        status != ASSAY_OK)
      return status;
    if (reachable != 0) return ASSAY_OK;
  }
  return refuse<Rt>(ASSAY_UNSUPPORTED, "no other device can be reached directly from this one");
}

// Fills the cache on first use. OK whatever was found; a status only when the device was lost while probing.
template <GpuRuntime Rt>
assay_status find_capability(DeviceState<Rt>& device, std::int32_t capability, const Capability** out) {
  const std::lock_guard lock(device.capability_mutex);
  Capability& known = device.capabilities[static_cast<std::size_t>(capability)];
  if (!known.known) {
    if (device.capturing.load() > 0)
      return refuse<Rt>(ASSAY_INVALID_VALUE, "a capability cannot be probed while a stream captures a graph");
    assay_status status = ASSAY_OK;
    switch (capability) {
      case ASSAY_CAPABILITY_POOL:
        status = probe_pool(device);
        break;
      case ASSAY_CAPABILITY_VMM:
        status = probe_vmm(device);
        break;
      case ASSAY_CAPABILITY_GRAPH:
        status = probe_graph(device);
        break;
      default:
        status = probe_peer(device);
        break;
    }
    if (is_sticky(status)) return status;
    if (status == ASSAY_OUT_OF_MEMORY) return status;  // says nothing about the capability: ask again later
    known.known = true;
    known.supported = status == ASSAY_OK;
    if (!known.supported) known.reason = error_buffer<Rt>().data();
  }
  *out = &known;
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status device_capability(assay_device* handle, std::int32_t capability, std::int32_t* supported) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || supported == nullptr) return missing_argument<Rt>();
  if (capability < ASSAY_CAPABILITY_POOL || capability > ASSAY_CAPABILITY_PEER)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown capability");
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  const Capability* found = nullptr;
  if (const assay_status status = find_capability(*device, capability, &found); status != ASSAY_OK) return status;
  *supported = found->supported ? 1 : 0;
  if (!found->supported) static_cast<void>(refuse<Rt>(ASSAY_UNSUPPORTED, found->reason.c_str()));
  return ASSAY_OK;
}

// enter() for entries that need a capability.
template <GpuRuntime Rt>
assay_status enter_with(DeviceState<Rt>& device, std::int32_t capability) {
  if (const assay_status status = device.enter(); status != ASSAY_OK) return status;
  const Capability* found = nullptr;
  if (const assay_status status = find_capability(device, capability, &found); status != ASSAY_OK) return status;
  return found->supported ? ASSAY_OK : refuse<Rt>(ASSAY_UNSUPPORTED, found->reason.c_str());
}

}  // namespace assay::gpu
