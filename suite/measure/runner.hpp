// SPDX-License-Identifier: Apache-2.0
// Runner: executes passes on a session. It owns the buffers in the slots and releases what is left at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/measure/forward/fill.hpp"
#include "suite/measure/forward/network.hpp"
#include "suite/measure/session.hpp"

namespace assay::measure {

// The allocation that failed.
struct FailedRequest {
  std::int64_t bytes = 0;
  allocator::Category category = allocator::Category::activation;
};

// Queues work on the session's one stream and waits only where a member says so. One thread only.
class Runner {
 public:
  Runner(Session& session, const Network& network, std::uint64_t seed, Storage storage);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  // Queues every step in order. Errors: out_of_memory and map_limit (see failed_request), unsupported when the module
  // lacks a kernel, whatever else the device gives.
  Result<void> run(const Pass& pass);
  // Allocates every weight tensor and uploads its seeded contents, through the staging memory.
  Result<void> load();
  // Allocates inputs and outputs and uploads the inputs.
  Result<void> inputs();
  // Waits for the stream, then hands the bytes to `sink` in pieces.
  Result<void> read(const Output& output, const std::function<void(const std::byte*, std::size_t)>& sink);
  // Gives every buffer back to the allocator; the first error is returned, the rest is still released.
  Result<void> release_all();

  [[nodiscard]] const std::optional<FailedRequest>& failed_request() const { return failed_request_; }

 private:
  Result<void> execute(const AllocateStep& step);
  Result<void> execute(const ReleaseStep& step);
  Result<void> execute(const CopyStep& step);
  Result<void> execute(const LaunchStep& step);
  Result<void> upload(const Fill& fill);
  [[nodiscard]] std::byte* address(const Operand& operand) const;

  Session& session_;
  const Network& network_;
  std::uint64_t seed_;
  Storage storage_;
  std::vector<void*> slots_;
  std::optional<FailedRequest> failed_request_;
};

}  // namespace assay::measure
