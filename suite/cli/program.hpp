// SPDX-License-Identifier: Apache-2.0
// The program without its main: a command line in, an exit code out, so that tests can run it in their own process.
#pragma once

#include "suite/cli/context.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace assay::cli {

// Declares every command on `app`.
void build_app(CLI::App& app, Context& context);

// Parses context.argv and runs the chosen command. Never throws: an unexpected exception is Exit::internal with one
// sentence on context.err. No library's own exit code gets out.
Exit run_program(Context& context);

// One sentence for a refused command line, with the nearest spelling where a name is misspelt.
[[nodiscard]] std::string sentence(const CLI::ParseError& error, const CLI::App& app);

}  // namespace assay::cli
