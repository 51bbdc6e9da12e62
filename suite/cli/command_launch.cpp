// SPDX-License-Identifier: Apache-2.0
// __launch: what a child process runs: one workload on one device, its events on descriptor 3.
#include <CLI/App.hpp>
#include <iostream>
#include <iterator>
#include <string>

#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/report_line.hpp"
#include "suite/measure/launch.hpp"
#include "suite/run/children.hpp"

namespace assay::cli {
namespace {

Exit run_launch(const Context& context) {
  run::let_waiting_threads_sleep();
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  auto request = run::read_launch_request(text);
  if (!request) return context.fail(request.error());
  auto done = measure::execute_launch(*request, report_entry);
  return done ? Exit::done : context.fail(done.error());
}

}  // namespace

void add_hidden_launch(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__launch", "What a child process runs: one workload on one device");
  command->group("");
  command->callback([&context] { context.action = [&context] { return run_launch(context); }; });
}

}  // namespace assay::cli
