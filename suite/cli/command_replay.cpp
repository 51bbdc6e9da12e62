// SPDX-License-Identifier: Apache-2.0
// assay replay: traces through allocator policies, and the verification of recorded addresses.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "results-schema/json/replay.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/progress.hpp"
#include "suite/cli/replay_child.hpp"
#include "suite/cli/version.hpp"
#include "suite/modules/choose.hpp"
#include "suite/process/child.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/replay/capacity.hpp"
#include "suite/replay/compare_policies.hpp"
#include "suite/replay/describe.hpp"
#include "suite/replay/search.hpp"
#include "suite/replay/verify.hpp"
#include "suite/report/format.hpp"
#include "suite/report/replay_page.hpp"
#include "suite/run/run.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

// A search replays the trace under every configuration; beyond so many operations it is not made unasked.
constexpr std::uint64_t kMostSearchedEvents = 500'000;

struct ReplayOptions {
  std::vector<std::string> traces;
  std::vector<std::string> policies;
  std::optional<std::int64_t> capacity;
  std::string device;
  std::string backend;
  std::optional<std::int64_t> host_memory;
  bool min_capacity = false;
  bool verify = false;
  bool no_search = false;
  bool timing = false;
  bool json = false;
  std::string output;
  std::string timeline;
  trace::PagedKvOptions requests;
  std::optional<std::int64_t> kv_pool;
  [[nodiscard]] bool on_device() const { return !device.empty() || !backend.empty(); }
};

Result<void> replay_policies(const ReplayOptions& options, const replay::TraceInput& trace,
                             const std::vector<replay::PolicyChoice>& choices, ReplayedTrace& out) {
  replay::Comparison comparison;
  if (options.capacity) comparison.capacity_bytes = static_cast<std::size_t>(*options.capacity);
  out.capacity_bytes = options.capacity;
  auto outcomes = replay::compare_policies(trace, choices, comparison);
  if (!outcomes) return outcomes.error();
  for (const auto& outcome : *outcomes) out.policies.push_back(replay::describe(outcome));
  if (options.min_capacity) {
    if (options.capacity) {
      outcomes = replay::compare_policies(trace, choices, {replay::SimulatedDevice::kUnlimitedBytes, false});
      if (!outcomes) return outcomes.error();
    }
    auto least = replay::least_capacities(trace, *outcomes);
    if (!least) return least.error();
    for (std::size_t i = 0; i < least->size(); ++i) out.policies[i].min_capacity_bytes = (*least)[i];
  }
  if (options.no_search) return {};
  if (trace.events() > kMostSearchedEvents) {
    out.warnings.push_back(fmt::format(
        "no search for better options was made, because the trace has more than {} events", kMostSearchedEvents));
    return {};
  }
  auto best = replay::best_configuration(trace, comparison.capacity_bytes);
  if (!best) return best.error();
  out.best = replay::describe(*best);
  return {};
}

Result<PlannedDevice> chosen_device(const ReplayOptions& options) {
  const auto program = process::own_path();
  if (!program) return program.error();
  modules::DeviceRequest request;
  request.backend = options.backend;
  if (!options.device.empty()) request.devices.push_back(options.device);
  const auto devices =
      modules::choose_devices(request, modules::installed_modules(*program), modules::child_prober(*program));
  if (!devices) return devices.error();
  if (devices->size() > 1)
    return Error{ErrorCode::usage, fmt::format("{} devices answer and a trace is replayed on one; name one, as in "
                                               "--device {}",
                                               devices->size(), devices->front().planned.name)};
  PlannedDevice device = devices->front().planned;
  if (options.host_memory) {
    if (device.backend != "host")
      return Error{ErrorCode::usage,
                   "--host-memory is the budget of the host backend; leave it out with " + device.name};
    device.options.emplace_back("memory_bytes", std::to_string(*options.host_memory));
  }
  return device;
}

Result<ReplayedTrace> replay_for_real(const ReplayOptions& options, const std::string& file,
                                      const std::vector<replay::PolicyChoice>& choices, ReplayedTrace out) {
  const auto device = chosen_device(options);
  if (!device) return device.error();
  auto results = replay_in_children(file, options.requests, choices, *device);
  if (!results) return results.error();
  out.on_device = std::move(*results);
  return out;
}

Result<ReplayedTrace> replay_one(const ReplayOptions& options, const std::string& file,
                                 const std::vector<replay::PolicyChoice>& choices) {
  const auto trace = replay::TraceInput::open(file, options.requests);
  if (!trace) return trace.error();
  ReplayedTrace out = replay::describe(**trace);
  if (options.verify) {
    auto verifications = replay::verify(**trace);
    if (!verifications) return verifications.error();
    auto& list = out.verification.emplace();
    for (const auto& one : *verifications) list.push_back(replay::describe(one));
  }
  if (options.on_device()) return replay_for_real(options, file, choices, std::move(out));
  if (!choices.empty())
    if (auto done = replay_policies(options, **trace, choices, out); !done) return done.error();
  return out;
}

// The values of the document without what is too long to read or differs from run to run; with the sums of a
// verification over the devices.
Json summary_json(ReplayedTrace trace) {
  for (auto& policy : trace.policies) {
    policy.series.reset();
    policy.time_per_operation.reset();
    if (policy.at_peak) policy.at_peak->segments.clear();
  }
  Json value = json::to_json(trace);
  if (!trace.verification) return value;
  std::int64_t allocations = 0;
  std::int64_t matched = 0;
  Json first = nullptr;
  for (const auto& one : value["verification"]) {
    allocations += one["allocations"].get<std::int64_t>();
    matched += one["allocations_matched"].get<std::int64_t>();
    if (first.is_null() && one.contains("first_divergence")) first = one["first_divergence"];
  }
  for (auto& one : value["verification"])
    if (!one.contains("first_divergence")) one["first_divergence"] = nullptr;
  value["allocations"] = allocations;
  value["allocations_matched"] = matched;
  value["first_divergence"] = first;
  return value;
}

Exit exit_of_traces(const std::vector<ReplayedTrace>& traces) {
  Exit exit = Exit::done;
  for (const auto& trace : traces)
    for (const auto& one : trace.on_device.value_or(std::vector<ReplayOnDevice>{})) {
      if (one.blocks_overwritten > 0) exit = strongest({exit, Exit::wrong_result});
      if (!one.failure.empty()) exit = strongest({exit, Exit::workload_failed});
    }
  for (const auto& trace : traces)
    for (const auto& one : trace.verification.value_or(std::vector<ReplayVerification>{})) {
      if (one.outcome == "diverged") exit = strongest({exit, Exit::regression});
      if (one.outcome == "ambiguous") exit = strongest({exit, Exit::inconclusive});
    }
  return exit;
}

Result<void> write_outputs(const ReplayOptions& options, const Context& context, const std::string& started,
                           const std::vector<ReplayedTrace>& traces) {
  if (!options.timeline.empty())
    if (auto done = json::write_new_file(options.timeline, replay::chrome_trace(traces)); !done) return done;
  if (options.output.empty()) return {};
  const auto built = version();
  ReplayDocument document;
  document.run = {run::random_id(), started, run::timestamp(), context.argv, built.version, built.commit, built.dirty};
  document.traces = traces;
  auto text = json::write_replay_document(document);
  if (!text) return text.error();
  return json::write_new_file(options.output, *text);
}

void print(const ReplayOptions& options, const Context& context, const std::vector<ReplayedTrace>& traces) {
  if (options.json) {
    Json value = traces.size() == 1 ? summary_json(traces.front()) : Json{{"traces", Json::array()}};
    if (traces.size() != 1)
      for (const auto& trace : traces) value["traces"].push_back(summary_json(trace));
    context.out << value.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  for (std::size_t i = 0; i < traces.size(); ++i) context.out << (i == 0 ? "" : "\n") << report::replay_page(traces[i]);
  if (!options.timeline.empty()) context.out << "\nTimeline: " << options.timeline << '\n';
  if (!options.output.empty()) context.out << "\nDocument: " << options.output << '\n';
}

void print_timing(const Context& context, const std::vector<ReplayedTrace>& traces) {
  for (const auto& trace : traces)
    for (const auto& policy : trace.policies)
      if (policy.time_per_operation)
        context.err << fmt::format("{}: {}{}{}: {} an operation, {} operations\n", trace.file, policy.policy,
                                   policy.options.empty() ? "" : " ", policy.options,
                                   report::quantity(*policy.time_per_operation), policy.operations);
}

Exit run_replay(const ReplayOptions& options, const Context& context) {
  const process::InterruptGuard guard;
  const auto started = run::timestamp();
  for (const auto* path : {&options.output, &options.timeline})
    if (!path->empty())
      if (auto checked = json::check_output(*path); !checked) return context.fail(checked.error());
  if (options.on_device() && (options.capacity || options.min_capacity || options.verify))
    return context.fail({ErrorCode::usage,
                         "--capacity, --min-capacity and --verify are answered without a device; leave them or the "
                         "device out"});
  auto choices = replay::parse_policies(options.policies, !options.on_device());
  if (!choices) return context.fail(choices.error());
  // A verification alone compares nothing.
  if (choices->empty() && !(options.verify && !options.capacity && !options.min_capacity))
    *choices = replay::default_policies();
  std::vector<ReplayedTrace> traces;
  Progress progress(context.err, context.progress);
  for (const auto& file : options.traces) {
    progress.show("replaying " + file);
    auto one = replay_one(options, file, *choices);
    if (!one) {
      progress.clear();
      return context.fail(one.error());
    }
    traces.push_back(std::move(*one));
  }
  progress.clear();
  if (auto written = write_outputs(options, context, started, traces); !written) return context.fail(written.error());
  print(options, context, traces);
  if (options.timing || context.progress) print_timing(context, traces);
  return exit_of_traces(traces);
}

}  // namespace

void add_replay(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReplayOptions>();
  auto& command = *app.add_subcommand("replay", "Send a recorded trace through allocator policies");
  auto& o = *options;
  add_texts(command, "trace", o.traces, "PyTorch, Kineto, RMM, Umpire, LLM requests, Assay; gzip or not")
      ->required()
      ->expected(1, 1'000'000);
  add_texts(command, "--policy", o.policies, "Names and option strings, by commas; repeatable");
  add_size(command, "--capacity", o.capacity, "Device of this size: where does it fail?");
  command.add_flag("--min-capacity", o.min_capacity, "The smallest device that holds it, by bisection");
  command.add_flag("--verify", o.verify, "Reproduce recorded addresses; exit 1 diverged, 4 ambiguous");
  auto* device = add_text(command, "--device", o.device, "Replay for real on this device, memory touched");
  add_text(command, "--backend", o.backend, "The same on the first device of a backend, e.g. host")->excludes(device);
  add_size(command, "--host-memory", o.host_memory, "Budget of the host backend");
  command.add_flag("--no-search", o.no_search, "Do not look for better PYTORCH_CUDA_ALLOC_CONF options");
  command.add_flag("--timing", o.timing, "Time per operation, on standard error");
  add_text(command, "--timeline", o.timeline, "Memory over time as a Chrome or Perfetto trace");
  add_text(command, "-o,--output", o.output, "Document to write; never overwritten");
  add_integer(command, "--kv-block-tokens", o.requests.block_tokens, "LLM requests: tokens of a KV block, default 16");
  add_integer(command, "--kv-bytes-per-token", o.requests.bytes_per_token, "LLM requests: of KV, default 131072");
  add_size(command, "--kv-pool", o.kv_pool, "LLM requests: size of the KV pool, default 64GiB");
  command.add_flag("--json", o.json, "One JSON object instead of tables");
  command.footer(
      "Without --policy: caching, expandable, remapping, and direct, the lower bound. A policy is a name or\n"
      "a PYTORCH_CUDA_ALLOC_CONF string; KEY:VALUE pieces between commas are one string, a second one takes\n"
      "another --policy. The runtime's own pool, native, cannot be simulated. Only --device and\n"
      "--backend touch a device, each policy in a process of its own; every block is written and checked.\n"
      "How to record a trace, and the formats: suite/trace/README.md.\n\n"
      "Examples:\n"
      "  assay replay snapshot.pickle\n"
      "  assay replay snapshot.json --policy caching,max_split_size_mb:64,expandable_segments:True\n"
      "  assay replay snapshot.json --capacity 24GiB --min-capacity --json\n"
      "  assay replay --verify snapshot.json\n"
      "  assay replay requests.csv --kv-block-tokens 32 --kv-bytes-per-token 163840 --kv-pool 40GiB");
  command.callback([options, &context] {
    if (options->kv_pool) options->requests.pool_bytes = *options->kv_pool;
    context.action = [options, &context] { return run_replay(*options, context); };
  });
}

}  // namespace assay::cli
