// SPDX-License-Identifier: Apache-2.0
// The runtime's own stream-ordered pool.
#include "backends/host/checks.hpp"
#include "backends/host/entries.hpp"

namespace assay::host {
namespace {

assay_status check_pool(const char* call, const assay_pool* pool) {
  return live(pool) ? pool->device->check() : not_live(call, "pool");
}

assay_status check_stream_of(const char* call, const assay_pool* pool, const assay_stream* stream) {
  if (const auto status = check(call, stream); status != ASSAY_OK) return status;
  if (stream->device == pool->device) return ASSAY_OK;
  return fail(ASSAY_INVALID_VALUE, "%s: pool and stream belong to different devices; use a stream of the pool's own",
              call);
}

}  // namespace

assay_status pool_create(assay_device* device, assay_pool** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check("pool_create", device); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("pool_create", "the result");
    DeviceState& state = *device->state;
    auto made = std::make_unique<Pool>(state.memory, runtime().scheduler);
    assay_pool* pool = runtime().pools.take();
    pool->device = &state;
    pool->pool = std::move(made);
    try {
      const std::lock_guard lock(state.children.mutex);
      state.children.pools.insert(pool);
    } catch (...) {
      end_pool(pool);
      throw;
    }
    pool->tag.store(Tag::pool, std::memory_order_relaxed);
    *out = pool;
    return ASSAY_OK;
  });
}

assay_status pool_destroy(assay_pool* pool) noexcept {
  return guarded([&]() -> assay_status {
    if (!live(pool)) return not_live("pool_destroy", "pool");
    DeviceState& state = *pool->device;
    runtime().scheduler.drain_all(Scheduler::Ordering::after_work);
    {
      const std::lock_guard lock(state.children.mutex);
      state.children.pools.erase(pool);
    }
    end_pool(pool);
    return state.check();
  });
}

assay_status pool_malloc(assay_pool* pool, size_t bytes, assay_stream* stream, void** out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check_pool("pool_malloc", pool); status != ASSAY_OK) return status;
    if (const auto status = check_stream_of("pool_malloc", pool, stream); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("pool_malloc", "the result");
    if (bytes == 0) return fail(ASSAY_INVALID_VALUE, "pool_malloc: 0 bytes asked; ask for at least one");
    return pool->pool->allocate(bytes, *stream->lane, out);
  });
}

assay_status pool_free(assay_pool* pool, void* pointer, assay_stream* stream) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check_pool("pool_free", pool); status != ASSAY_OK) return status;
    if (const auto status = check_stream_of("pool_free", pool, stream); status != ASSAY_OK) return status;
    return pool->pool->free(pointer, *stream->lane);
  });
}

assay_status pool_trim(assay_pool* pool, size_t keep_bytes) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check_pool("pool_trim", pool);
    return status != ASSAY_OK ? status : pool->pool->trim(keep_bytes);
  });
}

assay_status pool_get(assay_pool* pool, int32_t attribute, uint64_t* out) noexcept {
  return guarded([&]() -> assay_status {
    if (const auto status = check_pool("pool_get", pool); status != ASSAY_OK) return status;
    if (out == nullptr) return is_null("pool_get", "the result");
    return pool->pool->get(attribute, out);
  });
}

assay_status pool_set(assay_pool* pool, int32_t attribute, uint64_t value) noexcept {
  return guarded([&]() -> assay_status {
    const auto status = check_pool("pool_set", pool);
    return status != ASSAY_OK ? status : pool->pool->set(attribute, value);
  });
}

}  // namespace assay::host
