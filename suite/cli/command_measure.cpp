// SPDX-License-Identifier: Apache-2.0
// assay measure: one workload through the memory protocol.
#include <memory>

#include "suite/cli/commands.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/run_options.hpp"

namespace assay::cli {

void add_measure(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  options->kind = DocumentKind::measure;
  auto& command = *app.add_subcommand("measure", "Measure one workload, phase by phase, with a ledger that balances");
  add_run_options(command, *options);
  command.footer(
      "What executes is a forward pass with synthetic weights of the model's shapes.\n\n"
      "Examples:\n"
      "  assay measure --backend host --model decoder-135m --prompt 32 --decode 4\n"
      "  assay measure --backend host --workload dense --batch 4 --context 64 --width 512\n"
      "  assay measure --device cuda:0 --model ./my-model/config.json --dtype bf16 --dry-run");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_plan(*options, context); }; });
}

}  // namespace assay::cli
