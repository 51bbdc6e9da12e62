// SPDX-License-Identifier: Apache-2.0
// make_plan: everything that will be executed, decided and refused here, before anything is timed.
#include <fmt/format.h>

#include <algorithm>

#include "backends/allocator/make_allocator.hpp"
#include "backends/allocator/options.hpp"
#include "suite/plan/plan_file.hpp"
#include "suite/plan/request.hpp"

namespace assay::planning {
namespace {

bool has_host_options(const Request& request) {
  return request.host_memory_bytes || request.host_wave || request.host_threads;
}

std::vector<std::pair<std::string, std::string>> host_options(const Request& request) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto add = [&options](const char* key, const std::optional<std::int64_t>& value) {
    if (value) options.emplace_back(key, fmt::format("{}", *value));
  };
  add("memory_bytes", request.host_memory_bytes);
  add("wave", request.host_wave);
  add("threads", request.host_threads);
  return options;
}

Result<std::vector<PlannedDevice>> devices_of(const Request& request, const modules::Installed& installed,
                                              const modules::Prober& prober) {
  if (!request.module.empty() && (!request.backend.empty() || !request.devices.empty()))
    return usage("--module names the module; leave out --backend and --device");
  modules::DeviceRequest wanted{request.devices, request.backend};
  // A word with a slash is a path to whoever resolves it.
  if (!request.module.empty())
    wanted.backend = request.module.find('/') == std::string::npos ? "./" + request.module : request.module;
  auto chosen = modules::choose_devices(wanted, installed, prober);
  if (!chosen) return chosen.error();
  for (const auto& [key, value] : host_options(request))
    if (auto checked = check_device_option(key, value); !checked) return usage("the host's " + checked.error().text);
  std::vector<PlannedDevice> out;
  bool any_cpu = false;
  for (auto& device : *chosen) {
    if (device.platform == Platform::cpu) {
      any_cpu = true;
      device.planned.options = host_options(request);
    }
    out.push_back(std::move(device.planned));
  }
  if (has_host_options(request) && !any_cpu)
    return usage(
        "--host-memory, --host-wave and --host-threads belong to the host backend; leave them out, or add "
        "--backend host");
  return out;
}

Result<void> check_allocator(const Plan& plan) {
  return allocator::check_policy(plan.allocator, plan.allocator_options);
}

Result<Plan> from_file(const Request& request) {
  if (!(request.workload == WorkloadRequest{}) || !request.suite.empty() || !request.allocator.empty() ||
      !request.allocator_options.empty() || request.launches || request.time_limit_s)
    return usage("--plan brings workloads, allocator and launches with it; leave out the options that set them");
  return read_plan_file(request.plan_file);
}

}  // namespace

Result<Plan> make_plan(const Request& request, const modules::Installed& installed, const modules::Prober& prober) {
  Plan plan;
  if (!request.plan_file.empty()) {
    auto read = from_file(request);
    if (!read) return read.error();
    plan = std::move(*read);
  } else {
    auto workloads = make_workloads(request.suite, request.workload);
    if (!workloads) return workloads.error();
    plan.suite = request.suite.empty() ? "none" : request.suite;
    plan.workloads = std::move(*workloads);
    if (!request.allocator.empty()) plan.allocator = request.allocator;
    plan.allocator_options = request.allocator_options;
    plan.launches = request.launches.value_or(launches_of(request.suite));
    plan.time_limit_s = request.time_limit_s.value_or(600);
  }
  const bool from_a_file = !request.plan_file.empty();
  if (auto checked = check_allocator(plan); !checked && from_a_file)
    return Error{ErrorCode::bad_input, fmt::format("{}: /allocator: {}", request.plan_file, checked.error().text)};
  else if (!checked)
    return checked.error();
  // A plan's file already says where it runs, unless another place is named.
  if (request.plan_file.empty() || plan.devices.empty() || request.names_devices() || has_host_options(request)) {
    auto devices = devices_of(request, installed, prober);
    if (!devices) return devices.error();
    plan.devices = std::move(*devices);
  } else if (auto checked = check_planned_devices(plan, request.plan_file); !checked) {
    return checked.error();
  }
  return plan;
}

}  // namespace assay::planning
