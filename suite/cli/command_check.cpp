// SPDX-License-Identifier: Apache-2.0
// __check: what a child process runs: every kernel of one device against its reference, cases on descriptor 3.
#include <CLI/App.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

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

Exit run_check(const Context& context) {
  run::let_waiting_threads_sleep();
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  auto request = run::read_launch_request(text);
  if (!request) return context.fail(request.error());
  const auto& planned = request->plan.devices[request->device];
  auto module = device::Module::load(planned.module_path);
  if (!module) return context.fail(module.error());
  auto device = device::Device::open(*module, static_cast<std::int32_t>(planned.ordinal), planned.options);
  if (!device) return context.fail(device.error());
  auto cases = check::check_kernels(*module, *device, check::Depth::quick, kSeed);
  if (!cases) return context.fail(cases.error());
  const auto& workloads = request->plan.workloads;
  for (const auto& checked : *cases) {
    // A wrong kernel of a dtype that nothing in the plan uses says nothing about this run.
    const bool used = std::any_of(workloads.begin(), workloads.end(),
                                  [&](const Workload& w) { return w.storage_dtype == checked.dtype; });
    if (!used) continue;
    if (auto done = report_entry(CaseChecked{planned.name, checked}); !done) return context.fail(done.error());
  }
  return Exit::done;
}

}  // namespace

void add_hidden_check(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__check", "What a child process runs: kernels against their references");
  command->group("");
  command->callback([&context] { context.action = [&context] { return run_check(context); }; });
}

}  // namespace assay::cli
