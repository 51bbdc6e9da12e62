// SPDX-License-Identifier: Apache-2.0
// Work on a stream: copies, fills, copies between devices, and the module's kernels.
#pragma once

#include <limits>

#include "backends/gpu/device.hpp"

namespace assay::gpu {

template <GpuRuntime Rt>
assay_status copy(assay_stream* handle, void* to, const void* from, std::size_t bytes, std::int32_t kind) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = stream->device->enter(); status != ASSAY_OK) return status;
  if (kind < ASSAY_COPY_HOST_TO_DEVICE || kind > ASSAY_COPY_DEVICE_TO_DEVICE)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "unknown direction of a copy");
  if (bytes == 0) return ASSAY_OK;
  if (to == nullptr || from == nullptr) return missing_argument<Rt>();
  const auto direction = kind == ASSAY_COPY_HOST_TO_DEVICE   ? Rt::host_to_device
                         : kind == ASSAY_COPY_DEVICE_TO_HOST ? Rt::device_to_host
                                                             : Rt::device_to_device;
  return stream->device->check("copy", Rt::copy(to, from, bytes, direction, stream->handle));
}

template <GpuRuntime Rt>
assay_status fill(assay_stream* handle, void* to, std::uint8_t value, std::size_t bytes) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr) return missing_argument<Rt>();
  if (const assay_status status = stream->device->enter(); status != ASSAY_OK) return status;
  if (bytes == 0) return ASSAY_OK;
  if (to == nullptr) return missing_argument<Rt>();
  return stream->device->check("fill", Rt::fill(to, value, bytes, stream->handle));
}

template <GpuRuntime Rt>
assay_status peer_copy(assay_stream* handle, void* to, assay_device* to_device, const void* from,
                       assay_device* from_device, std::size_t bytes) {
  auto* stream = state<Rt>(handle);
  auto* target = state<Rt>(to_device);
  auto* source = state<Rt>(from_device);
  if (stream == nullptr || target == nullptr || source == nullptr) return missing_argument<Rt>();
  if (const assay_status status = stream->device->enter(); status != ASSAY_OK) return status;
  if (bytes == 0) return ASSAY_OK;
  if (to == nullptr || from == nullptr) return missing_argument<Rt>();
  return stream->device->check("copy between devices",
                               Rt::peer_copy(to, target->ordinal, from, source->ordinal, bytes, stream->handle));
}

template <GpuRuntime Rt>
assay_status kernel_count(std::int32_t* out) {
  if (out == nullptr) return missing_argument<Rt>();
  *out = static_cast<std::int32_t>(Rt::kernels().size());
  return ASSAY_OK;
}

// Null, with the words, when the module has no such kernel.
template <GpuRuntime Rt>
const kernels::KernelEntry* find_kernel(std::int32_t index) {
  const auto table = Rt::kernels();
  if (index >= 0 && static_cast<std::size_t>(index) < table.size()) return &table[static_cast<std::size_t>(index)];
  static_cast<void>(refuse<Rt>(ASSAY_INVALID_VALUE, "the module has no kernel of this index; see kernel_count"));
  return nullptr;
}

template <GpuRuntime Rt>
assay_status kernel_info(std::int32_t index, assay_kernel_info* out) {
  if (out == nullptr) return missing_argument<Rt>();
  const auto* entry = find_kernel<Rt>(index);
  if (entry == nullptr) return ASSAY_INVALID_VALUE;
  *out = {entry->name, entry->dtype, entry->implementation, entry->source_version, entry->params_bytes};
  return ASSAY_OK;
}

template <GpuRuntime Rt>
assay_status kernel_resources(assay_device* handle, std::int32_t index, assay_kernel_resources* out) {
  auto* device = state<Rt>(handle);
  if (device == nullptr || out == nullptr) return missing_argument<Rt>();
  const auto* entry = find_kernel<Rt>(index);
  if (entry == nullptr) return ASSAY_INVALID_VALUE;
  if (const assay_status status = device->enter(); status != ASSAY_OK) return status;
  typename Rt::FunctionAttributes attributes{};
  if (const assay_status status =
          device->check("read a kernel's resources", Rt::function_attributes(&attributes, entry->entry));
      status != ASSAY_OK)
    return status;
  *out = {attributes.numRegs,
          static_cast<std::int32_t>(attributes.sharedSizeBytes),
          static_cast<std::int32_t>(attributes.localSizeBytes),
          attributes.maxThreadsPerBlock,
          attributes.binaryVersion,
          Rt::is_amd ? -1 : attributes.ptxVersion};
  return ASSAY_OK;
}

// More dynamic shared memory than a kernel gets by default has to be asked for, once per kernel and size.
template <GpuRuntime Rt>
assay_status ask_for_shared(DeviceState<Rt>& device, const void* entry, std::uint32_t bytes) {
  if (bytes <= Rt::shared_without_asking) return ASSAY_OK;
  const std::lock_guard lock(device.capability_mutex);
  auto& allowed = device.shared_allowed[entry];
  if (allowed >= bytes) return ASSAY_OK;
  const assay_status status =
      device.check("ask for more shared memory", Rt::allow_shared(entry, static_cast<int>(bytes)));
  if (status == ASSAY_OK) allowed = bytes;
  return status;
}

template <GpuRuntime Rt>
assay_status launch(assay_stream* handle, std::int32_t kernel, const void* params, std::size_t params_bytes) {
  auto* stream = state<Rt>(handle);
  if (stream == nullptr || params == nullptr) return missing_argument<Rt>();
  auto& device = *stream->device;
  const auto* entry = find_kernel<Rt>(kernel);
  if (entry == nullptr) return ASSAY_INVALID_VALUE;
  if (params_bytes != entry->params_bytes)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "the parameter struct has another size than the kernel's");
  if (const assay_status status = device.enter(); status != ASSAY_OK) return status;
  const kernels::LaunchShape shape = entry->shape(params, device.target);
  if (shape.grid == 0) return ASSAY_OK;
  if (shape.block == 0 || shape.block > device.target.max_threads)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "the kernel's block shape does not fit this device");
  if (shape.grid > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) ||
      shape.grid > Rt::max_grid_threads / shape.block)
    return refuse<Rt>(ASSAY_INVALID_VALUE, "the grid is larger than one launch can have; split the work");
  if (const assay_status status = ask_for_shared(device, entry->entry, shape.shared_bytes); status != ASSAY_OK)
    return status;
  // The runtime copies the parameters before it returns; the array of pointers is its calling convention.
  void* arguments[] = {const_cast<void*>(params)};
  return device.check("launch a kernel", Rt::launch(entry->entry, static_cast<std::uint32_t>(shape.grid), shape.block,
                                                    arguments, shape.shared_bytes, stream->handle));
}

}  // namespace assay::gpu
