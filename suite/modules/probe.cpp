// SPDX-License-Identifier: Apache-2.0
// Both sides of a probe: the parent that starts and judges the child, and what the child does.
#include "suite/modules/probe.hpp"

#include <algorithm>
#include <cstring>

#include "backends/allocator/make_allocator.hpp"
#include "backends/device/device.hpp"
#include "results-schema/types/identity_fields.hpp"
#include "suite/modules/probe_lines.hpp"
#include "suite/process/child.hpp"

namespace assay::modules {
namespace {

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) return {};
  const auto start = text.find_last_of('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

// The sentence for a child that ended before it was done.
Error ended_early(const ModuleFile& module, const process::ChildResult& child, const Progress& progress,
                  std::chrono::milliseconds limit) {
  const std::string start = "module " + module.path;
  std::string said = last_line(child.error_tail);
  if (!said.empty()) said = " (" + said + ")";
  switch (child.end) {
    case process::ChildEnd::timed_out:
      return {ErrorCode::no_device, start + " did not answer within " + std::to_string(limit.count() / 1000) +
                                        " s while " + progress.doing + "; check its driver" + said};
    case process::ChildEnd::signalled:
      return {ErrorCode::no_device, start + " crashed while " + progress.doing + " (signal " +
                                        std::to_string(child.signal) + ", " + ::strsignal(child.signal) +
                                        "); check its driver or rebuild it" + said};
    case process::ChildEnd::interrupted:
      return {ErrorCode::interrupted, "interrupted while probing " + module.path};
    case process::ChildEnd::exited:
      break;
  }
  return {ErrorCode::no_device, start + " ended the process with exit code " + std::to_string(child.exit_code) +
                                    " while " + progress.doing + "; check its driver or rebuild it" + said};
}

std::vector<std::string> child_words(const std::string& program, const ProbeRequest& request) {
  std::vector<std::string> words{program, "__probe", request.module.path};
  if (request.depth == Depth::all_devices) words.emplace_back("--all");
  if (request.depth == Depth::one_device) {
    words.emplace_back("--ordinal");
    words.push_back(std::to_string(request.ordinal));
  }
  for (const auto& [key, value] : request.options) {
    words.emplace_back("--option");
    words.push_back(key + "=" + value);
  }
  if (!request.allocator.empty()) {
    words.insert(words.end(), {"--allocator", request.allocator});
    if (!request.allocator_options.empty())
      words.insert(words.end(), {"--allocator-options", request.allocator_options});
  }
  return words;
}

// Throttling and company are readings of the moment: they stand in the identity as they were when it was taken.
void add_validity_readings(const device::Device& opened, std::vector<IdentityField>& fields) {
  const auto sensors = opened.sensors();
  if (!sensors) return;  // then the identity says that they are not stated
  for (const auto& sensor : *sensors) {
    const auto* rule = find_rule(sensor.key);
    if (rule == nullptr || rule->origin != Origin::sensor) continue;
    if (std::none_of(fields.begin(), fields.end(), [&](const auto& field) { return field.key == sensor.key; }))
      fields.push_back(sensor);
  }
}

DeviceProbe open_and_ask(const device::Module& module, std::int32_t ordinal, const ProbeRequest& request) {
  DeviceProbe result;
  result.ordinal = ordinal;
  const auto opened = device::Device::open(module, ordinal, request.options);
  if (!opened) {
    result.problem = opened.error();
    return result;
  }
  auto fields = opened->identity();
  if (!fields) {
    result.problem = fields.error();
    return result;
  }
  result.fields = std::move(*fields);
  add_validity_readings(*opened, result.fields);
  if (request.allocator.empty()) return result;
  if (auto made = allocator::make_allocator(request.allocator, request.allocator_options, *opened); !made)
    result.problem = made.error();
  return result;
}

}  // namespace

std::string ModuleProbe::described(std::string_view key) const {
  for (const auto& field : description)
    if (field.key == key && field.state == FieldState::value)
      if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
  return {};
}

ModuleProbe probe_module(const std::string& program, const ProbeRequest& request, const ProbeLimits& limits) {
  ModuleProbe probe;
  probe.module = request.module;
  Progress progress;
  process::ChildRequest child;
  child.argv = child_words(program, request);
  child.time_limit = request.depth == Depth::module ? limits.module : limits.devices;
  child.on_line = [&](std::string_view line) { (void)take_line(line, probe, progress); };
  const auto ended = process::run_child(child);
  if (!ended)
    probe.problem = ended.error();
  else if (!probe.problem && !progress.done)
    probe.problem = ended_early(request.module, *ended, progress, child.time_limit);
  return probe;
}

Prober child_prober(std::string program, ProbeLimits limits) {
  return [program = std::move(program), limits](const ProbeRequest& request) {
    return probe_module(program, request, limits);
  };
}

void probe_here(const ProbeRequest& request, const LineSink& sink) {
  const auto module = device::Module::load(request.module.path);
  if (!module) return sink(problem_line(module.error()));
  const auto description = module->describe();
  if (!description) return sink(problem_line(description.error()));
  sink(loaded_line(*description));
  const auto count = module->device_count();
  sink(count_line(count));
  const std::int32_t devices = count ? *count : 0;
  for (std::int32_t ordinal = 0; ordinal < devices && request.depth != Depth::module; ++ordinal) {
    if (request.depth == Depth::one_device && ordinal != request.ordinal) continue;
    sink(opening_line(ordinal));
    sink(device_line(open_and_ask(*module, ordinal, request)));
  }
  sink(done_line());
}

}  // namespace assay::modules
