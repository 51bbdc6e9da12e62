// SPDX-License-Identifier: Apache-2.0
// The options of a run, by group.
#include "suite/cli/run_options.hpp"

#include <fmt/format.h>

#include <string>

#include "backends/allocator/make_allocator.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/work_options.hpp"
#include "suite/plan/limits.hpp"

namespace assay::cli {
namespace {

using allocator::kPolicyNames;

void add_workload(CLI::App& command, planning::WorkloadRequest& w) {
  const char* group = "Workload";
  const auto integer = [&](const char* names, std::optional<std::int64_t>& target, const char* text, Range range) {
    add_integer(command, names, target, text, range)->group(group);
  };
  constexpr Range kCount{1, kLargestInteger};
  constexpr Range kMayBeZero{0, kLargestInteger};
  add_choice(command, "--workload", w.kind, {"decoder", "dense"}, "decoder (default) or dense")->group(group);
  add_text(command, "--model", w.model, "Shipped name, folder or config.json")->group(group);
  integer("--batch", w.batch, "Sequences at once (1)", kCount);
  integer("--prompt,--context", w.prompt, "Tokens of one sequence before decoding", kCount);
  integer("--decode", w.decode, "Tokens generated after the prompt; 0: none", kMayBeZero);
  add_choice(command, "--dtype", w.dtype, {"f32", "f16", "bf16"}, "f32, f16 or bf16 (the model's own, or f32)")
      ->group(group);
  add_choice(command, "--kv", w.kv, {"growing", "static", "paged", "sliding_window"},
             "KV cache: static, growing or sliding_window")
      ->group(group);
  integer("--warmups,--warmup", w.warmups, "Forward passes before the repeats (1)", {0, planning::kMostPasses});
  integer("--repeats,--repeat", w.repeats, "Repeats that are kept (3)", {1, planning::kMostPasses});
  integer("--seed", w.seed, "Of synthetic weights and inputs (1)", kMayBeZero);
  add_text(command, "--load-name", w.load_name, "usual, long, limit: loads match by name")->group(group);
  command.add_flag("--empty-cache", w.empty_cache, "Empty the cache between phases; recorded")->group(group);
  add_size(command, "--occupy", w.occupy_bytes, "Held outside the allocator; recorded")->group(group);

  group = "Decoder from dimensions instead of --model";
  integer("--hidden-size", w.hidden_size, "Elements of a hidden state", kCount);
  integer("--intermediate-size", w.intermediate_size, "Elements inside a feed-forward block", kCount);
  integer("--layers", w.layers, "Decoder layers", kCount);
  integer("--query-heads", w.query_heads, "Attention heads", kCount);
  integer("--kv-heads", w.kv_heads, "Key-value heads (as query heads)", kCount);
  integer("--head-dim", w.head_dim, "Elements of a head (hidden / heads)", kCount);
  integer("--vocabulary", w.vocabulary, "Tokens of the vocabulary", kCount);
  integer("--sliding-window", w.sliding_window, "Tokens that attention looks back", kCount);

  group = "Dense network (--workload dense)";
  integer("--width", w.width, "Features in and out of a layer (1024)", kCount);
  integer("--depth", w.depth, "Layers (4)", kCount);
}

void add_devices(CLI::App& command, planning::Request& request) {
  const char* group = "Devices";
  add_texts(command, "--device", request.devices, "BACKEND[:INDEX or UUID], or all; repeatable")->group(group);
  add_text(command, "--backend", request.backend, "First device of a backend, e.g. host")->group(group);
  add_text(command, "--module", request.module, "A module's file, first device")->group(group);
  add_size(command, "--host-memory", request.host_memory_bytes, "Budget of the host backend, 2GiB")->group(group);
  add_integer(command, "--host-wave", request.host_wave, "1 for speed; 32 or 64 to check", {1, 64})->group(group);
  add_integer(command, "--host-threads", request.host_threads, "Worker threads; 0: all", {0, planning::kMostThreads})
      ->group(group);
}

// One line a policy.
std::string policies_help() {
  std::string text = "Policy of device memory (caching):";
  for (std::size_t i = 0; i < kPolicyNames.size(); ++i)
    text += fmt::format("\n{}: {}", kPolicyNames[i], allocator::kPolicySummaries[i]);
  return text;
}

}  // namespace

void add_work_options(CLI::App& command, planning::Request& request) {
  add_integer(command, "--launches", request.launches, "Processes a device and workload", {1, planning::kMostLaunches});
  add_integer(command, "--time-limit", request.time_limit_s, "Seconds one launch may take (600)",
              {1, planning::kMostSeconds});
  add_choice(command, "--allocator", request.allocator, {kPolicyNames.begin(), kPolicyNames.end()}, policies_help());
  add_text(command, "--allocator-options", request.allocator_options, "In PYTORCH_CUDA_ALLOC_CONF syntax");
  add_workload(command, request.workload);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  auto& request = options.request;
  add_text(command, "-o,--output", options.output, "Document to write; never overwritten");
  command.add_flag("--dry-run", options.dry_run, "Print the plan and measure nothing");
  add_text(command, "--resume", options.resume, "Journal or partial document to complete");
  add_integer(command, "--launches", request.launches, "Processes a device and workload", {1, planning::kMostLaunches});
  add_integer(command, "--time-limit", request.time_limit_s, "Seconds one launch may take (600)",
              {1, planning::kMostSeconds});
  add_choice(command, "--allocator", request.allocator, {kPolicyNames.begin(), kPolicyNames.end()}, policies_help());
  add_text(command, "--allocator-options", request.allocator_options, "In PYTORCH_CUDA_ALLOC_CONF syntax");
  const char* group = "Instruments (they slow the allocator down, and the document says so)";
  add_text(command, "--record-trace", options.instruments.record_trace, "Write the allocations, .csv or .csv.gz")
      ->group(group);
  add_text(command, "--snapshot", options.instruments.snapshot, "Write PyTorch's snapshot, .json, at the end or OOM")
      ->group(group);
  command.add_flag("--allocator-latency", options.instruments.latency, "Time every call: p50, p99, max by kind")
      ->group(group);
  command.add_flag("--json", options.json, "Print the document instead of the summary");
  add_devices(command, request);
  add_workload(command, request.workload);
}

}  // namespace assay::cli
