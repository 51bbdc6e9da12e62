// SPDX-License-Identifier: Apache-2.0
// Session: one open device with its allocator, its stream, the kernels of one dtype and pinned staging memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/allocator/allocator.hpp"
#include "backends/allocator/latency.hpp"
#include "backends/device/device.hpp"
#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/measure/forward/step.hpp"
#include "suite/measure/instruments.hpp"
#include "suite/measure/recording.hpp"

namespace assay::measure {

// Two pieces of page-locked host memory, used in turn by copies that run while the other piece is being written.
// One thread only.
class Staging {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

  static Result<std::unique_ptr<Staging>> create(const device::Device& device);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  // The next piece, once the copy that last used it has passed.
  Result<std::byte*> acquire();
  // Marks the piece of the last acquire as used by work queued on `stream` so far.
  Result<void> used_on(const device::Stream& stream);

 private:
  struct Piece {
    void* memory = nullptr;
    std::optional<device::Event> free_again;
    bool in_flight = false;
  };
  explicit Staging(const device::Device& device) : device_(device) {}
  const device::Device& device_;
  std::array<Piece, 2> pieces_;
  std::size_t current_ = 1;
};

// Members are destroyed from the last to the first, so the device outlives everything made from it.
struct Session {
  device::Module module;
  device::Device device;
  std::optional<device::Stream> stream;
  std::unique_ptr<allocator::Allocator> allocator;
  std::unique_ptr<Staging> staging;
  std::array<std::int32_t, kKernelCount> kernels{};  // module indices, -1 where the module lacks one
  allocator::TimedAllocator* timed = nullptr;        // around the policy, where the calls are timed
  RecordingAllocator* recording = nullptr;           // around everything, where the calls are recorded

  // Loads the module, opens the device and makes the allocator, with the instruments around it; nothing else has
  // touched the device then. Errors: no_device, usage (a refused option), out_of_memory, output (the trace's file).
  static Result<std::unique_ptr<Session>> open(const PlannedDevice& device, const std::string& allocator,
                                               const std::string& allocator_options,
                                               const Instruments& instruments = {});
  // Stream, staging memory and kernel indices. Errors: as the device gives them.
  Result<void> prepare(const std::string& dtype);
  // Wraps the allocator. Errors: output.
  Result<void> add_instruments(const Instruments& instruments, const std::string& device_name);
};

}  // namespace assay::measure
