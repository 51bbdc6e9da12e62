// SPDX-License-Identifier: Apache-2.0
// __check: what a child process runs: every kernel of one device against its reference, cases on descriptor 3.
#include <CLI/App.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "backends/device/device.hpp"
#include "suite/check/check.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/report_line.hpp"
#include "suite/run/children.hpp"

namespace assay::cli {
namespace {

// Inputs of the checks are the same in every run.
constexpr std::uint64_t kSeed = 1;

// The storage types of the plan: a wrong kernel of another one says nothing about this run.
std::vector<std::string> dtypes_of(const Plan& plan) {
  std::vector<std::string> dtypes;
  for (const auto& workload : plan.workloads)
    if (std::find(dtypes.begin(), dtypes.end(), workload.storage_dtype) == dtypes.end())
      dtypes.push_back(workload.storage_dtype);
  return dtypes;
}

Result<void> check_planned(const Plan& plan, const PlannedDevice& planned) {
  auto module = device::Module::load(planned.module_path);
  if (!module) return module.error();
  auto device = device::Device::open(*module, static_cast<std::int32_t>(planned.ordinal), planned.options);
  if (!device) return device.error();
  return check::check_kernels(*module, *device, {check::Depth::quick, kSeed, dtypes_of(plan)},
                              [&planned](const Case& checked) {
                                return report_entry(CaseChecked{planned.name, checked});
                              });
}

Exit run_check(const Context& context) {
  run::let_waiting_threads_sleep();
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  auto request = run::read_launch_request(text);
  if (!request) return context.fail(request.error());
  const auto& planned = request->plan.devices[request->device];
  const auto done = check_planned(request->plan, planned);
  if (done) return Exit::done;
  // Why no kernel could be checked is a result too, with its kind.
  if (done.error().code != ErrorCode::output)
    (void)report_entry(CaseChecked{planned.name, run::failed_checks(request->plan, done.error())});
  return context.fail(done.error());
}

}  // namespace

void add_hidden_check(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__check", "What a child process runs: kernels against their references");
  command->group("");
  command->callback([&context] { context.action = [&context] { return run_check(context); }; });
}

}  // namespace assay::cli
