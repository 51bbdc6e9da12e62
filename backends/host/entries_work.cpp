// SPDX-License-Identifier: Apache-2.0
// Work on streams: copies, fills and kernels.
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"
#include "backends/host/kernel_table.hpp"

namespace assay::host {
namespace {

// After a fault the work that is still queued does nothing, as on a board. No exception reaches the stream's thread.
template <class Work>
void submit(assay_stream& stream, Work&& work) {
  runtime().scheduler.submit(*stream.lane, [device = stream.device, body = std::forward<Work>(work)] {
    if (device->faulted()) return;
    try {
      body();
    } catch (const std::exception& error) {
      device->set_fault(error.what());
    } catch (...) {
      device->set_fault("work on a stream failed in an unknown way");
    }
  });
}

assay_status not_device_memory(const char* call, const char* side, const void* pointer, std::size_t bytes) {
  return fail(ASSAY_INVALID_VALUE,
              "%s: %zu bytes %s %p are not live memory of the device; check address, size and kind", call, bytes, side,
              pointer);
}

assay_status check_host_side(const Memory& memory, const char* side, const void* pointer) {
  if (pointer == nullptr) return is_null("copy", side);
  if (!memory.touches(pointer)) return ASSAY_OK;
  return fail(ASSAY_INVALID_VALUE, "copy: the host side %s is memory of the device (%p); choose the other kind", side,
              pointer);
}

assay_status check_copy(const Memory& memory, const void* to, const void* from, std::size_t bytes, int32_t kind) {
  switch (kind) {
    case ASSAY_COPY_HOST_TO_DEVICE:
      if (!memory.covers(to, bytes)) return not_device_memory("copy", "to", to, bytes);
      return check_host_side(memory, "from", from);
    case ASSAY_COPY_DEVICE_TO_HOST:
      if (!memory.covers(from, bytes)) return not_device_memory("copy", "from", from, bytes);
      return check_host_side(memory, "to", to);
    case ASSAY_COPY_DEVICE_TO_DEVICE:
      if (!memory.covers(to, bytes)) return not_device_memory("copy", "to", to, bytes);
      if (!memory.covers(from, bytes)) return not_device_memory("copy", "from", from, bytes);
      return ASSAY_OK;
    default:
      return fail(ASSAY_INVALID_VALUE, "copy: %d is no kind; see ASSAY_COPY_*", kind);
  }
}

}  // namespace

assay_status copy(assay_stream* stream, void* to, const void* from, size_t bytes, int32_t kind) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("copy", stream); status != ASSAY_OK) return status;
    if (bytes == 0 && kind >= ASSAY_COPY_HOST_TO_DEVICE && kind <= ASSAY_COPY_DEVICE_TO_DEVICE) return ASSAY_OK;
    if (const auto status = check_copy(stream->device->memory, to, from, bytes, kind); status != ASSAY_OK)
      return status;
    submit(*stream, [to, from, bytes] { std::memmove(to, from, bytes); });
    return ASSAY_OK;
  });
}

assay_status fill(assay_stream* stream, void* to, uint8_t value, size_t bytes) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("fill", stream); status != ASSAY_OK) return status;
    if (bytes == 0) return ASSAY_OK;
    if (!stream->device->memory.covers(to, bytes)) return not_device_memory("fill", "to", to, bytes);
    submit(*stream, [to, value, bytes] { std::memset(to, value, bytes); });
    return ASSAY_OK;
  });
}

assay_status peer_copy(assay_stream* stream, void* to, assay_device* to_device, const void* from,
                       assay_device* from_device, size_t bytes) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("peer_copy", stream); status != ASSAY_OK) return status;
    if (const auto status = check("peer_copy", to_device); status != ASSAY_OK) return status;
    if (const auto status = check("peer_copy", from_device); status != ASSAY_OK) return status;
    if (bytes == 0) return ASSAY_OK;
    if (!to_device->state->memory.covers(to, bytes)) return not_device_memory("peer_copy", "to", to, bytes);
    if (!from_device->state->memory.covers(from, bytes)) return not_device_memory("peer_copy", "from", from, bytes);
    submit(*stream, [to, from, bytes] { std::memmove(to, from, bytes); });
    return ASSAY_OK;
  });
}

assay_status launch(assay_stream* stream, int32_t kernel, const void* params, size_t params_bytes) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("launch", stream); status != ASSAY_OK) return status;
    const auto table = kernel_table();
    if (kernel < 0 || static_cast<std::size_t>(kernel) >= table.size())
      return fail(ASSAY_INVALID_VALUE, "launch: there is no kernel %d among %zu; ask kernel_count", kernel,
                  table.size());
    const auto& entry = table[static_cast<std::size_t>(kernel)];
    if (params == nullptr) return is_null("launch", "the parameter struct");
    if (params_bytes != entry.params_bytes)
      return fail(ASSAY_INVALID_VALUE,
                  "launch: kernel %s takes %u bytes of parameters and got %zu; build both from the same source",
                  entry.name, entry.params_bytes, params_bytes);
    if (entry.shape(params, stream->device->executor.target()).grid == 0) return ASSAY_OK;
    const auto* bytes = static_cast<const std::byte*>(params);
    submit(*stream, [device = stream->device, &entry, copied = std::vector<std::byte>(bytes, bytes + params_bytes)] {
      std::string failure;
      if (!device->executor.run(entry, copied.data(), &failure)) device->set_fault(failure.c_str());
    });
    return ASSAY_OK;
  });
}

}  // namespace assay::host
