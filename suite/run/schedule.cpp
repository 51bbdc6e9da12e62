// SPDX-License-Identifier: Apache-2.0
// The order of the processes, names and times of a run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>

#include "suite/run/run.hpp"

namespace assay::run {
namespace {

bool cut_short(const Launch& launch) {
  return launch.outcome == LaunchOutcome::running || launch.outcome == LaunchOutcome::interrupted;
}

}  // namespace

std::int64_t launch_count(const Plan& plan) {
  return static_cast<std::int64_t>(plan.devices.size() * plan.workloads.size()) * plan.launches;
}

std::vector<Step> schedule(const Plan& plan) {
  std::vector<Step> steps;
  for (std::int64_t index = 0; index < plan.launches; ++index) {
    for (std::size_t workload = 0; workload < plan.workloads.size(); ++workload) {
      for (std::size_t i = 0; i < plan.devices.size(); ++i) {
        const auto device = index % 2 == 0 ? i : plan.devices.size() - 1 - i;
        steps.push_back({device, workload, index});
      }
    }
  }
  return steps;
}

std::vector<Step> missing_steps(const Plan& plan, const RunDocument& document) {
  auto steps = schedule(plan);
  std::erase_if(steps, [&](const Step& step) {
    if (step.device >= document.devices.size()) return false;
    const auto& launches = document.devices[step.device].launches;
    return std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
      return launch.workload == static_cast<std::int64_t>(step.workload) && launch.index == step.index &&
             !cut_short(launch);
    });
  });
  return steps;
}

void drop_cut_short(RunDocument& document) {
  for (auto& device : document.devices) std::erase_if(device.launches, cut_short);
  document.failures.clear();
  document.run.finished_at.clear();
  document.status = DocumentStatus::partial;
}

std::string timestamp() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string random_id() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", static_cast<std::uint32_t>(source()), static_cast<std::uint32_t>(source()));
}

}  // namespace assay::run
