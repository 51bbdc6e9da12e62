// SPDX-License-Identifier: Apache-2.0
// A session that calls every entry of the device table, through the RAII layer where it has a call for it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backends/device/device.hpp"
#include "kernels/copy/params.hpp"

namespace assay::contract {

// Runs until the first failure, which it returns, and leaves every object to its destructor. Entries that the host
// lacks are called too, and the host's own "unsupported" is passed over; an injected one is not.
class FaultSession {
 public:
  explicit FaultSession(device::Module module) : module_(std::move(module)) {}

  std::optional<Error> run() {
    if (auto failed = without_device()) return failed;
    if (auto failed = opening_and_closing()) return failed;
    auto opened = device::Device::open(module_, 0, {{"memory_bytes", "67108864"}});
    if (!opened) return opened.error();
    device_.emplace(std::move(*opened));
    // Calls that the RAII layer makes in destructors, which nobody can be told about, are made by hand before it does.
    for (const auto part : {&FaultSession::raw_objects, &FaultSession::reading, &FaultSession::streaming,
                            &FaultSession::memory, &FaultSession::virtual_memory, &FaultSession::pools_and_graphs})
      if (auto failed = (this->*part)()) return failed;
    return {};
  }

 private:
  using Failure = std::optional<Error>;

  template <class T>
  static Failure of(const Result<T>& result) {
    return result ? Failure() : Failure(result.error());
  }
  [[nodiscard]] const assay_backend& table() const { return module_.table(); }
  Failure raw(assay_status status, const char* what) const {
    if (status == ASSAY_OK) return {};
    return device::error_from(table(), status, what);
  }
  // For entries that the host may lack.
  Failure optional(assay_status status, const char* what) const {
    const bool injected = std::string_view(table().last_error()).find("injected") != std::string_view::npos;
    if (status == ASSAY_UNSUPPORTED && !injected) return {};
    return raw(status, what);
  }

  Failure without_device() {
    if (auto failed = of(module_.describe())) return failed;
    if (auto failed = of(module_.device_count())) return failed;
    return of(module_.kernels());
  }

  Failure reading() {
    if (auto failed = of(device_->identity())) return failed;
    if (auto failed = of(device_->sensors())) return failed;
    if (auto failed = of(device_->capability(ASSAY_CAPABILITY_VMM))) return failed;
    if (auto failed = of(device_->memory_info())) return failed;
    assay_kernel_resources resources{};
    if (auto failed = raw(table().kernel_resources(device_->handle(), 0, &resources), "kernel_resources"))
      return failed;
    return of(device_->synchronize());
  }

  Failure streaming() {
    const auto index = module_.find_kernel("copy", "f32", "portable");
    if (!index) return index.error();
    std::vector<std::uint8_t> host(4096);  // before the stream, which waits for the copy into it when it is destroyed
    auto first = device::Stream::create(*device_);
    if (!first) return first.error();
    auto start = device::Event::create(*device_, true);
    if (!start) return start.error();
    auto end = device::Event::create(*device_, true);
    if (!end) return end.error();
    const auto memory = device_->malloc(8192, ASSAY_OWNER_EXTERNAL);
    if (!memory) return memory.error();
    auto* bytes = static_cast<std::byte*>(*memory);
    if (auto failed = of(start->record(*first))) return failed;
    if (auto failed = of(first->wait(*start))) return failed;
    if (auto failed = of(first->fill(bytes, 1, 4096))) return failed;
    if (auto failed = of(first->launch(*index, kernels::CopyParams{bytes, bytes + 4096, 1024}))) return failed;
    if (auto failed = of(first->copy(host.data(), bytes, 4096, ASSAY_COPY_DEVICE_TO_HOST))) return failed;
    if (auto failed =
            raw(table().peer_copy(first->handle(), bytes, device_->handle(), bytes + 4096, device_->handle(), 16),
                "peer_copy"))
      return failed;
    if (auto failed = of(end->record(*first))) return failed;
    if (auto failed = of(end->synchronize())) return failed;
    if (auto failed = of(first->synchronize())) return failed;
    if (auto failed = of(first->finished())) return failed;
    if (auto failed = of(end->finished())) return failed;
    if (auto failed = of(device::Event::elapsed_ns(*start, *end))) return failed;
    return of(device_->free(*memory));
  }

  Failure memory() {
    void* host = nullptr;
    if (auto failed = raw(table().host_malloc(device_->handle(), 4096, &host), "host_malloc")) return failed;
    return raw(table().host_free(device_->handle(), host), "host_free");
  }

  Failure raw_objects() {
    assay_stream* stream = nullptr;
    assay_event* event = nullptr;
    if (auto failed = raw(table().stream_create(device_->handle(), 0, &stream), "stream_create")) return failed;
    if (auto failed = raw(table().event_create(device_->handle(), 0, &event), "event_create")) return failed;
    if (auto failed = raw(table().event_destroy(event), "event_destroy")) return failed;
    return raw(table().stream_destroy(stream), "stream_destroy");
  }

  Failure virtual_memory() {
    std::size_t granule = 0;
    std::size_t recommended = 0;
    void* range = nullptr;
    assay_physical* physical = nullptr;
    assay_device* handle = device_->handle();
    if (auto failed = raw(table().vmm_granularity(handle, &granule, &recommended), "vmm_granularity")) return failed;
    if (auto failed = raw(table().vmm_reserve(handle, granule, &range), "vmm_reserve")) return failed;
    if (auto failed = raw(table().vmm_create(handle, granule, ASSAY_OWNER_ALLOCATOR, &physical), "vmm_create"))
      return failed;
    if (auto failed = raw(table().vmm_map(handle, range, granule, physical), "vmm_map")) return failed;
    if (auto failed = raw(table().vmm_unmap(handle, range, granule), "vmm_unmap")) return failed;
    if (auto failed = raw(table().vmm_release(handle, physical), "vmm_release")) return failed;
    return raw(table().vmm_unreserve(handle, range, granule), "vmm_unreserve");
  }

  Failure pools_and_graphs() {
    auto stream = device::Stream::create(*device_);
    if (!stream) return stream.error();
    assay_pool* pool = nullptr;
    assay_graph* graph = nullptr;
    void* memory = nullptr;
    std::uint64_t value = 0;
    if (auto failed = optional(table().pool_create(device_->handle(), &pool), "pool_create")) return failed;
    if (auto failed = optional(table().pool_set(pool, ASSAY_POOL_RELEASE_THRESHOLD, 0), "pool_set")) return failed;
    if (auto failed = optional(table().pool_malloc(pool, 4096, stream->handle(), &memory), "pool_malloc"))
      return failed;
    if (auto failed = optional(table().pool_free(pool, memory, stream->handle()), "pool_free")) return failed;
    if (auto failed = optional(table().pool_get(pool, ASSAY_POOL_USED_CURRENT, &value), "pool_get")) return failed;
    if (auto failed = optional(table().pool_trim(pool, 0), "pool_trim")) return failed;
    if (auto failed = optional(table().pool_destroy(pool), "pool_destroy")) return failed;
    if (auto failed = optional(table().graph_begin(stream->handle()), "graph_begin")) return failed;
    if (auto failed = optional(table().graph_end(stream->handle(), &graph), "graph_end")) return failed;
    if (auto failed = optional(table().graph_launch(graph, stream->handle()), "graph_launch")) return failed;
    return optional(table().graph_destroy(graph), "graph_destroy");
  }

  Failure opening_and_closing() {
    assay_device* other = nullptr;
    if (auto failed = raw(table().device_open(1, nullptr, 0, &other), "device_open")) return failed;
    return raw(table().device_close(other), "device_close");
  }

  device::Module module_;
  std::optional<device::Device> device_;
};

}  // namespace assay::contract
