// SPDX-License-Identifier: Apache-2.0
// __replay: what a child process runs: one trace under one policy on one device; and the parent's side of it.
#include "suite/cli/replay_child.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "backends/device/device.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/replay.hpp"
#include "suite/cli/context.hpp"
#include "suite/process/child.hpp"
#include "suite/replay/describe.hpp"
#include "suite/replay/device_replay.hpp"
#include "suite/run/children.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

Exit run_child_replay(const Context& context) {
  run::let_waiting_threads_sleep();
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const auto request = json::parse(text, "the request");
  if (!request || !request->is_object() || !request->contains("trace"))
    return context.fail({ErrorCode::usage, "this command is for the program's own use; see assay replay --help"});
  trace::PagedKvOptions requests;
  requests.block_tokens = request->at("kv_block_tokens").get<std::int64_t>();
  requests.bytes_per_token = request->at("kv_bytes_per_token").get<std::int64_t>();
  requests.pool_bytes = request->at("kv_pool_bytes").get<std::int64_t>();
  const auto trace = replay::TraceInput::open(request->at("trace").get<std::string>(), requests);
  if (!trace) return context.fail(trace.error());
  device::Options options;
  for (const auto& option : request->at("options"))
    options.emplace_back(option.at(0).get<std::string>(), option.at(1).get<std::string>());
  auto module = device::Module::load(request->at("module").get<std::string>());
  if (!module) return context.fail(module.error());
  auto device = device::Device::open(*module, request->at("ordinal").get<std::int32_t>(), options);
  if (!device) return context.fail(device.error());
  const replay::PolicyChoice choice{request->at("policy").get<std::string>(),
                                    request->at("policy_options").get<std::string>(), ""};
  ReplayedTrace answer;
  answer.on_device.emplace();
  for (std::int32_t i = 0; i < (*trace)->devices(); ++i) {
    auto one = replay::replay_on_device(**trace, i, choice, *device);
    if (!one) return context.fail(one.error());
    answer.on_device->push_back(std::move(*one));
  }
  const std::string line = json::to_json(answer).dump() + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const auto n = ::write(process::kReportDescriptor, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return context.fail({ErrorCode::output, "the report cannot be written; see assay replay --help"});
    done += static_cast<std::size_t>(n);
  }
  return Exit::done;
}

// Refusals of the request as a whole, which every policy would meet.
std::optional<Error> refused(const process::ChildResult& ended) {
  if (ended.end != process::ChildEnd::exited) return std::nullopt;
  const auto words = run::last_words(ended.error_tail);
  if (ended.exit_code == static_cast<int>(Exit::usage)) return Error{ErrorCode::usage, words};
  if (ended.exit_code == static_cast<int>(Exit::bad_input)) return Error{ErrorCode::bad_input, words};
  if (ended.exit_code == static_cast<int>(Exit::no_device)) return Error{ErrorCode::no_device, words};
  return std::nullopt;
}

}  // namespace

Result<std::vector<ReplayOnDevice>> replay_in_children(const std::string& trace, const trace::PagedKvOptions& requests,
                                                       const std::vector<replay::PolicyChoice>& choices,
                                                       const PlannedDevice& device) {
  const auto program = process::own_path();
  if (!program) return program.error();
  std::vector<ReplayOnDevice> all;
  for (const auto& choice : choices) {
    Json request{{"trace", trace},           {"module", device.module_path}, {"ordinal", device.ordinal},
                 {"options", Json::array()}, {"policy", choice.policy},      {"policy_options", choice.options}};
    request["kv_block_tokens"] = requests.block_tokens;
    request["kv_bytes_per_token"] = requests.bytes_per_token;
    request["kv_pool_bytes"] = requests.pool_bytes;
    for (const auto& [key, value] : device.options) request["options"].push_back({key, value});
    std::string line;
    process::ChildRequest child;
    child.argv = {*program, "__replay"};
    child.input = request.dump();
    child.on_line = [&line](std::string_view said) { line = said; };
    const auto ended = process::run_child(child);
    if (!ended) return ended.error();
    if (ended->end == process::ChildEnd::interrupted)
      return Error{ErrorCode::interrupted, "interrupted before the replay on " + device.name + " had ended"};
    if (auto error = refused(*ended)) return *error;
    auto answer = json::read_replayed_trace(line, "the child's report");
    if (ended->end == process::ChildEnd::exited && ended->exit_code == 0 && answer && answer->on_device) {
      for (ReplayOnDevice& one : *answer->on_device) {
        one.target = device.name;
        all.push_back(std::move(one));
      }
      continue;
    }
    ReplayOnDevice failed;
    failed.target = device.name;
    failed.policy = choice.policy;
    failed.options = choice.options;
    failed.failure = ended->end == process::ChildEnd::signalled
                         ? fmt::format("the replay was ended by signal {}", ended->signal)
                         : run::last_words(ended->error_tail);
    if (failed.failure.empty()) failed.failure = "the replay ended without a report";
    all.push_back(std::move(failed));
  }
  return all;
}

void add_hidden_replay(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__replay", "What a child process runs: one trace under one policy on one device");
  command->group("");
  command->callback([&context] { context.action = [&context] { return run_child_replay(context); }; });
}

}  // namespace assay::cli
