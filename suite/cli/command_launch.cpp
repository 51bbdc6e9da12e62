// SPDX-License-Identifier: Apache-2.0
// __launch: what a child process runs: one workload on one device, its events on descriptor 3.
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>

#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/measure/launch.hpp"
#include "suite/process/child.hpp"
#include "suite/run/children.hpp"

namespace assay::cli {
namespace {

Result<void> report(const JournalEntry& entry) {
  const auto line = json::to_line(entry) + '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const auto n = ::write(process::kReportDescriptor, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error{ErrorCode::output, std::string("the report cannot be written: ") + std::strerror(errno) +
                                          "; __launch is for the program's own use"};
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Exit run_launch(const Context& context) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  auto request = run::read_launch_request(text);
  if (!request) return context.fail(request.error());
  auto done = measure::execute_launch(*request, report);
  return done ? Exit::done : context.fail(done.error());
}

}  // namespace

void add_hidden_launch(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__launch", "What a child process runs: one workload on one device");
  command->group("");
  command->callback([&context] { context.action = [&context] { return run_launch(context); }; });
}

}  // namespace assay::cli
