// SPDX-License-Identifier: Apache-2.0
// The commands, one file each: every add_ function declares its subcommand, options and example, nothing runs in it.
#pragma once

namespace CLI {
class App;
}

namespace assay::cli {

struct Context;

void add_backends(CLI::App& app, Context& context);
void add_environment(CLI::App& app, Context& context);
void add_estimate(CLI::App& app, Context& context);
void add_measure(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_recover(CLI::App& app, Context& context);

// Hidden: what the program runs in a child of its own, with entries on descriptor 3.
void add_hidden_probe(CLI::App& app, Context& context);     // __probe: modules that answer
void add_hidden_check(CLI::App& app, Context& context);     // __check: kernels against their references
void add_hidden_launch(CLI::App& app, Context& context);    // __launch: one workload on one device

}  // namespace assay::cli
