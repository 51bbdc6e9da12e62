// SPDX-License-Identifier: Apache-2.0
// assay run: a suite or a plan, several launches, one document.
#include <memory>

#include "suite/cli/commands.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/run_options.hpp"

namespace assay::cli {

void add_run(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  options->kind = DocumentKind::run;
  auto& command = *app.add_subcommand("run", "Run a whole plan into one document: the main job");
  auto* suite = add_choice(command, "--suite", options->request.suite, {"quick", "standard", "full"},
                           "quick (default), standard or full");
  add_text(command, "--plan", options->request.plan_file, "Plan to run, as --dry-run prints it")->excludes(suite);
  add_run_options(command, *options);
  command.footer(
      "Each launch is a process of its own, with a time limit; one that fails costs only itself.\n"
      "Options of the workload are laid over every load of the suite.\n\n"
      "Examples:\n"
      "  assay run --backend host\n"
      "  assay run --suite standard --device cuda:0 --device hip:0 --output both.json\n"
      "  assay run --resume night.json.journal --output night-complete.json");
  command.callback([options, &context] {
    context.action = [options, &context] {
      auto& request = options->request;
      if (request.suite.empty() && request.plan_file.empty() && options->resume.empty()) request.suite = "quick";
      return run_plan(*options, context);
    };
  });
}

}  // namespace assay::cli
