// SPDX-License-Identifier: Apache-2.0
// NativePool: the runtime's own stream-ordered pool behind the device table, and what probes found out about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backends/allocator/device_calls.hpp"
#include "results-schema/types/result.hpp"

namespace assay::allocator {

// Owns one pool, which its end destroys. As thread-safe as the table. Move-only.
class NativePool {
 public:
  static Result<NativePool> create(const assay_backend& table, assay_device* device);
  NativePool(NativePool&& other) noexcept : table_(other.table_), pool_(std::exchange(other.pool_, nullptr)) {}
  NativePool& operator=(NativePool&&) = delete;
  NativePool(const NativePool&) = delete;
  NativePool& operator=(const NativePool&) = delete;
  ~NativePool();

  // Null where there is no memory; every other failure is an Error.
  [[nodiscard]] Result<void*> allocate(std::size_t bytes, assay_stream* stream) const;
  Result<void> free(void* pointer, assay_stream* stream) const;
  Result<void> trim(std::size_t keep_bytes) const;
  [[nodiscard]] Result<std::uint64_t> get(std::int32_t attribute) const;
  Result<void> set(std::int32_t attribute, std::uint64_t value) const;

 private:
  NativePool(const assay_backend& table, assay_pool* pool) : table_(&table), pool_(pool) {}
  Result<void> checked(assay_status status, std::string_view what) const;

  const assay_backend* table_;
  assay_pool* pool_;
};

// What the probes of a pool say; each sentence is empty where there is nothing to say.
struct PoolFindings {
  std::uint64_t release_threshold = 0;  // bytes, as read back
  bool threshold_honoured = true;
  std::string threshold_note;  // not honoured, or not tried
  std::string canary_note;     // not tried
};

// Sets the release threshold, reads it back, and looks whether three blocks of 64 MiB that were freed stay reserved up
// to it (rocm-systems#11690: they do not everywhere). Leaves the pool empty. Errors: those of the device.
[[nodiscard]] Result<PoolFindings> probe_threshold(const DeviceCalls& device, const NativePool& pool,
                                                   std::uint64_t threshold);

// Writes a pattern of its own into each of many blocks, taken, freed and reused on two streams, and reads it back while
// the block is live (rocm-systems#10943: live memory came back as zeroes). unsupported, naming the block, when a byte
// is not what was written; the sentence says to choose caching. False: not tried, because the device fills no memory.
// Leaves the pool empty.
Result<bool> probe_canaries(const assay_backend& table, assay_device* device, const NativePool& pool);

}  // namespace assay::allocator
