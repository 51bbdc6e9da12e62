// SPDX-License-Identifier: Apache-2.0
// Workloads small enough for a test, and a launch whose entries are kept.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/types/document.hpp"
#include "suite/measure/launch.hpp"

namespace assay::measure::test {

// The dimensions of the shipped decoder-tiny.
inline Workload tiny() {
  Workload work;
  auto& model = work.model;
  model.model_type = "mistral";
  model.hidden_size = 48;
  model.intermediate_size = 80;
  model.layers = 3;
  model.query_heads = 6;
  model.kv_heads = 2;
  model.head_dim = 8;
  model.vocabulary = 97;
  model.max_positions = 128;
  model.sliding_window = 6;
  model.norm_epsilon = 1e-5;
  work.batch = 2;
  work.prompt_tokens = 9;
  work.decode_tokens = 5;
  work.repeats = 2;
  return work;
}

// One thread: these kernels are too small to be worth waking another.
inline PlannedDevice host(std::vector<std::pair<std::string, std::string>> options = {}) {
  options.emplace_back("threads", "1");
  const char* folder = std::getenv("ASSAY_BIN_DIR");
  PlannedDevice device;
  device.name = "host:0";
  device.backend = "host";
  device.module_path = std::string(folder == nullptr ? "." : folder) + "/libassay-host.so";
  device.options = std::move(options);
  return device;
}

struct Ran {
  Result<void> result;
  std::vector<Phase> phases;
  std::vector<PhaseStarted> started;
  std::vector<SampleTaken> samples;
  std::string checksum;

  [[nodiscard]] const Phase* find(const std::string& name, std::int64_t repeat = 0) const {
    for (const auto& phase : phases) {
      if (phase.name == name && phase.repeat == repeat) return &phase;
    }
    return nullptr;
  }
};

inline Ran launch(const Workload& work, const PlannedDevice& device = host(),
                  const std::string& allocator = "caching") {
  LaunchRequest request;
  request.plan.devices = {device};
  request.plan.workloads = {work};
  request.plan.allocator = allocator;
  request.order = 3;
  Ran ran;
  ran.result = execute_launch(request, [&](const JournalEntry& entry) -> Result<void> {
    if (const auto* started = std::get_if<PhaseStarted>(&entry)) ran.started.push_back(*started);
    if (const auto* finished = std::get_if<PhaseFinished>(&entry)) ran.phases.push_back(finished->phase);
    if (const auto* sample = std::get_if<SampleTaken>(&entry)) ran.samples.push_back(*sample);
    if (const auto* output = std::get_if<OutputChecksum>(&entry)) ran.checksum = output->checksum;
    return {};
  });
  return ran;
}

// The value of a counter; -1 when it is not there or null.
inline std::int64_t counter(const std::vector<Counter>& counters, const std::string& name,
                            const std::string& perimeter = "allocator") {
  for (const auto& counter : counters) {
    if (counter.name != name || counter.perimeter != perimeter) continue;
    const auto* value = std::get_if<std::int64_t>(&counter.quantity.value);
    return value == nullptr ? -1 : *value;
  }
  return -1;
}

}  // namespace assay::measure::test
