// SPDX-License-Identifier: Apache-2.0
// Protocol: runs one phase at a time through the six steps of the memory protocol and emits what it saw.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/types/memory.hpp"
#include "suite/measure/launch.hpp"
#include "suite/measure/readings.hpp"
#include "suite/measure/runner.hpp"
#include "suite/measure/session.hpp"

namespace assay::measure {

// A phase to run. `before` establishes recorded conditions outside the counters' window; `body` is the phase itself.
struct PhaseRequest {
  std::string name;
  std::int64_t repeat = 0;
  std::map<std::string, std::int64_t> executed;
  std::vector<std::string> conditions;
  std::int64_t before_bytes = 0;  // what `before` asks the device for, outside the allocator
  std::function<Result<void>()> before;
  std::function<Result<void>()> body;
};

class Protocol {
 public:
  using Clock = std::chrono::steady_clock;

  Protocol(std::int64_t order, std::map<std::string, std::int64_t> configured, const Emit& emit,
           std::int64_t slow_permille = 0);

  // Step 1 to 6: named, synchronised and read, peaks reset, run, synchronised and read again, emitted. Returns the
  // wall time between the two synchronisations in nanoseconds. A failure of the phase is emitted with it, its peaks
  // marked partial, and returned; `runner`, where given, knows the request that failed.
  Result<std::int64_t> run(Session& session, const Runner* runner, const PhaseRequest& request);

  // The phase `environment`: `open` makes the session, so its start is read when the device is open, its duration
  // counts from before. The baseline of every later ledger is read at its end.
  Result<void> run_environment(std::map<std::string, std::int64_t> executed, std::vector<std::string> conditions,
                               const std::function<Result<Session*>()>& open,
                               const std::function<Result<void>(Session&)>& body);

  Result<void> sample(const std::string& name, const char* unit, double value, const std::string& flag = {});
  Result<void> checksum(const std::string& text);
  Result<void> latencies(const allocator::Latencies& latencies);

 private:
  Result<void> start(const std::string& name, std::int64_t repeat);
  Result<void> fail(Phase phase, const Error& error, const Session* session, const PhaseFailure& failure);
  void read_start(const Session& session, Phase& phase);
  void read_end(const Session& session, Phase& phase);
  Result<void> emit_finished(Phase phase);

  std::int64_t order_;
  std::map<std::string, std::int64_t> configured_;
  const Emit& emit_;
  std::int64_t slow_permille_;
  Reading baseline_;
};

}  // namespace assay::measure
