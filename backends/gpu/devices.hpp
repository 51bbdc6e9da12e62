// SPDX-License-Identifier: Apache-2.0
// Devices: counting, opening, closing and waiting for them.
#pragma once

#include <algorithm>
#include <cstdio>

#include "backends/gpu/graph.hpp"
#include "backends/gpu/pool.hpp"
#include "backends/gpu/streams.hpp"
#include "backends/gpu/vmm.hpp"

namespace assay::gpu {

// Without a driver CUDA answers 35 and leaves the count unwritten, HIP answers 100: both are "no device", with count 0.
template <GpuRuntime Rt>
assay_status device_count(std::int32_t* out) {
  if (out == nullptr) return missing_argument<Rt>();
  int count = 0;
  const auto answer = Rt::device_count(&count);
  const assay_status status = classify(static_cast<int>(answer));
  if (status != ASSAY_OK) {
    note<Rt>("the runtime", answer);
    static_cast<void>(Rt::clear_last_error());
    if (status == ASSAY_NO_DEVICE) *out = 0;
    return status;
  }
  *out = std::max(count, 0);
  return *out > 0 ? ASSAY_OK : refuse<Rt>(ASSAY_NO_DEVICE, "the runtime answers and lists no device");
}

inline std::string format_bdf(int domain, int bus, int device) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(domain) & 0xFFFFFFFFU,
                static_cast<unsigned>(bus) & 0xFFU, static_cast<unsigned>(device) & 0xFFU);
  return text.data();
}

template <GpuRuntime Rt>
assay_status device_open(std::int32_t ordinal, const assay_option* options, std::size_t option_count,
                         assay_device** out) {
  if (out == nullptr || (options == nullptr && option_count > 0)) return missing_argument<Rt>();
  if (option_count > 0)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "a GPU device takes no options; remove the option or use the host backend");
  std::int32_t count = 0;
  if (const assay_status status = device_count<Rt>(&count); status != ASSAY_OK) return status;
  if (ordinal < 0 || ordinal >= count)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "there is no device of this ordinal; see the device count");
  auto device = std::make_unique<DeviceState<Rt>>();
  device->ordinal = ordinal;
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  auto& properties = device->properties;
  if (const assay_status status = device->check("read the properties", Rt::get_properties(&properties, ordinal));
      status != ASSAY_OK)
    return status;
  device->arch = Rt::arch_name(properties);
  device->uuid = Rt::uuid(properties, ordinal);
  device->pci_bdf = format_bdf(properties.pciDomainID, properties.pciBusID, properties.pciDeviceID);
  device->target = {static_cast<std::uint32_t>(properties.warpSize),
                    static_cast<std::uint32_t>(properties.maxThreadsPerBlock),
                    static_cast<std::uint32_t>(properties.multiProcessorCount)};
  device->board = Rt::open_board(BoardQuery{ordinal, device->pci_bdf, device->uuid, device->arch, Rt::platform});
  *out = reinterpret_cast<assay_device*>(device.release());
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status device_synchronize(assay_device* handle) {
  auto* device = state<Rt>(handle);
  if (device == nullptr) return missing_argument<Rt>();
  if (const assay_status status = device->enter_outside_capture(); status != ASSAY_OK) return status;
  return device->check("wait for the device", Rt::device_synchronize());
}

// Gives back whatever is still open, in the order that leaves nothing in use. Keeps going after a failure.
template <GpuRuntime Rt>
assay_status release_everything(DeviceState<Rt>& device) {
  assay_status first = ASSAY_OK;
  const auto keep = [&first](assay_status status) {
    if (first == ASSAY_OK) first = status;
  };
  for (auto& [stream, owned] : device.streams) abandon_capture(*stream);
  keep(device.check("wait for the device", Rt::device_synchronize()));
  for (auto& [graph, owned] : device.graphs) keep(close_graph(*graph));
  for (auto& [event, owned] : device.events) keep(device.check("destroy an event", Rt::event_destroy(event->handle)));
  for (auto& [stream, owned] : device.streams) keep(close_stream(*stream));
  for (auto& [pool, owned] : device.pools) keep(device.check("destroy a pool", Rt::pool_destroy(pool->handle)));
  for (const auto& [address, mapping] : device.mappings)
    keep(device.check("unmap memory", Rt::vmm_unmap(reinterpret_cast<void*>(address), mapping.bytes)));
  for (auto& [physical, owned] : device.physicals)
    keep(device.check("release physical memory", Rt::vmm_release(physical->handle)));
  for (const auto& [address, bytes] : device.reservations)
    keep(device.check("give addresses back", Rt::vmm_unreserve(reinterpret_cast<void*>(address), bytes)));
  for (const auto& [pointer, block] : device.memory) keep(device.check("free device memory", Rt::free(pointer)));
  for (void* pointer : device.host_memory) keep(device.check("free page-locked memory", Rt::host_free(pointer)));
  return first;
}

// The handle is gone whatever is returned. A lost device is only forgotten: its runtime answers nothing any more.
template <GpuRuntime Rt>
assay_status device_close(assay_device* handle) {
  if (handle == nullptr) return missing_argument<Rt>();
  const std::unique_ptr<DeviceState<Rt>> device(state<Rt>(handle));
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  return release_everything(*device);
}

}  // namespace assay::gpu
