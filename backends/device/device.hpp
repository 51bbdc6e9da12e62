// SPDX-License-Identifier: Apache-2.0
// RAII over the device table: modules, devices, streams, events and memory as C++ values that check every status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/abi/assay_backend.h"
#include "results-schema/types/identity.hpp"
#include "results-schema/types/result.hpp"

namespace assay::device {

// The Error of a failed status: "<what>: <the module's own words>", with the code callers act on.
[[nodiscard]] Error error_from(const assay_backend& table, assay_status status, std::string_view what);

// A loaded module. Copies share it; it is never unloaded (a backend's threads and fat binaries do not survive that).
class Module {
 public:
  // dlopen (RTLD_NOW | RTLD_LOCAL), the one symbol, version and size. Errors: no_device when the file is missing or
  // does not load, bad_input when it is no Assay module or one of another ABI version.
  static Result<Module> load(const std::string& path);
  // A table that is already in the process (tests).
  static Result<Module> wrap(const assay_backend* table);

  [[nodiscard]] const assay_backend& table() const { return *table_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // The fields the module states of itself; tiers are left at their default (the registry owns them).
  [[nodiscard]] Result<std::vector<IdentityField>> describe() const;
  [[nodiscard]] Result<std::int32_t> device_count() const;
  [[nodiscard]] Result<std::vector<assay_kernel_info>> kernels() const;
  // The index of a kernel; unsupported when the module lacks it.
  [[nodiscard]] Result<std::int32_t> find_kernel(std::string_view name, std::string_view dtype,
                                                 std::string_view implementation) const;

 private:
  explicit Module(const assay_backend* table, std::string path) : table_(table), path_(std::move(path)) {}
  const assay_backend* table_;
  std::string path_;
};

using Options = std::vector<std::pair<std::string, std::string>>;

// An open device. Move-only; closes on destruction. Every other object made from it must be gone by then.
class Device {
 public:
  static Result<Device> open(const Module& module, std::int32_t ordinal, const Options& options = {});
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  [[nodiscard]] const assay_backend& table() const { return *table_; }
  [[nodiscard]] assay_device* handle() const { return handle_; }

  [[nodiscard]] Result<std::vector<IdentityField>> identity() const;
  [[nodiscard]] Result<std::vector<IdentityField>> sensors() const;
  [[nodiscard]] Result<bool> capability(std::int32_t capability) const;
  [[nodiscard]] Result<assay_memory_info> memory_info() const;
  Result<void> synchronize() const;
  [[nodiscard]] Result<void*> malloc(std::size_t bytes, std::uint32_t owner) const;
  Result<void> free(void* pointer) const;

 private:
  Device(const assay_backend* table, assay_device* handle) : table_(table), handle_(handle) {}
  const assay_backend* table_;
  assay_device* handle_;
};

// A non-blocking in-order queue. Move-only; destruction waits for its work.
class Stream {
 public:
  static Result<Stream> create(const Device& device, std::int32_t priority = 0);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  [[nodiscard]] assay_stream* handle() const { return handle_; }
  Result<void> synchronize() const;
  [[nodiscard]] Result<bool> finished() const;
  Result<void> wait(const class Event& event) const;
  Result<void> copy(void* to, const void* from, std::size_t bytes, std::int32_t kind) const;
  Result<void> fill(void* to, std::uint8_t value, std::size_t bytes) const;
  // Params must be the parameter struct of the kernel at `index`.
  template <class Params>
  Result<void> launch(std::int32_t index, const Params& params) const {
    return launch_bytes(index, &params, sizeof(Params));
  }
  Result<void> launch_bytes(std::int32_t index, const void* params, std::size_t bytes) const;

 private:
  Stream(const assay_backend* table, assay_stream* handle) : table_(table), handle_(handle) {}
  const assay_backend* table_;
  assay_stream* handle_;
};

// Move-only. elapsed_ns needs two completed events created with timing.
class Event {
 public:
  static Result<Event> create(const Device& device, bool timing = false);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  [[nodiscard]] assay_event* handle() const { return handle_; }
  Result<void> record(const Stream& stream) const;
  [[nodiscard]] Result<bool> finished() const;
  Result<void> synchronize() const;
  // Nanoseconds between two events; a non-positive reading is returned as it is, for the caller to reject.
  static Result<double> elapsed_ns(const Event& start, const Event& end);

 private:
  Event(const assay_backend* table, assay_event* handle) : table_(table), handle_(handle) {}
  const assay_backend* table_;
  assay_event* handle_;
};

}  // namespace assay::device
