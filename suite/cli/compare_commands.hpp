// SPDX-License-Identifier: Apache-2.0
// The commands that judge and pass on what others measured; as commands.hpp otherwise.
#pragma once

namespace CLI {
class App;
}

namespace assay::cli {

struct Context;

void add_duel(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);

}  // namespace assay::cli
