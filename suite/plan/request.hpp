// SPDX-License-Identifier: Apache-2.0
// Request: what the command line asks for, before anything is decided; make_plan turns it into a plan or refuses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/types/plan.hpp"
#include "results-schema/types/result.hpp"
#include "suite/modules/choose.hpp"

namespace assay::planning {

// Empty or absent: not given. Numbers are already in their ranges, names are as typed.
struct WorkloadRequest {
  std::string kind;   // "decoder", "dense"
  std::string model;  // shipped name, folder or config.json
  std::optional<std::int64_t> hidden_size;
  std::optional<std::int64_t> intermediate_size;
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> query_heads;
  std::optional<std::int64_t> kv_heads;
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> vocabulary;
  std::optional<std::int64_t> sliding_window;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> depth;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> decode;
  std::string dtype;
  std::string kv;
  std::optional<std::int64_t> warmups;
  std::optional<std::int64_t> repeats;
  std::optional<std::int64_t> seed;
  std::string load_name;
  bool empty_cache = false;
  std::optional<std::int64_t> occupy_bytes;

  bool operator==(const WorkloadRequest&) const = default;
  // The eight dimensions of a decoder given one by one.
  [[nodiscard]] bool has_dimensions() const {
    return hidden_size || intermediate_size || layers || query_heads || kv_heads || head_dim || vocabulary ||
           sliding_window;
  }
};

struct Request {
  std::string suite;      // "quick", "standard", "full"; empty: one workload
  std::string plan_file;  // instead of everything below but the devices
  WorkloadRequest workload;
  std::string allocator;
  std::string allocator_options;
  std::optional<std::int64_t> launches;
  std::optional<std::int64_t> time_limit_s;
  std::vector<std::string> devices;
  std::string backend;
  std::string module;  // a module's file
  std::optional<std::int64_t> host_memory_bytes;
  std::optional<std::int64_t> host_wave;
  std::optional<std::int64_t> host_threads;

  [[nodiscard]] bool names_devices() const { return !devices.empty() || !backend.empty() || !module.empty(); }
};

// A request that cannot be planned, and what to give instead.
inline Error usage(std::string text) {
  return {ErrorCode::usage, std::move(text)};
}

// The workloads of a suite, or the one that is described, every refusal included. Errors: usage, bad_input.
Result<std::vector<Workload>> make_workloads(const std::string& suite, const WorkloadRequest& request);

// Processes of one device and workload in a suite: 1 for quick, 7 otherwise (the least the exact test can use).
std::int64_t launches_of(const std::string& suite);

// The whole plan: workloads, allocator, devices. Probes modules in child processes; measures nothing.
// Errors: usage, bad_input, no_device, interrupted.
Result<Plan> make_plan(const Request& request, const modules::Installed& installed, const modules::Prober& prober);

// What make_plan checks of each workload, wherever it came from. `name` is what messages call it.
Result<void> check_workload(const Workload& workload);

}  // namespace assay::planning
