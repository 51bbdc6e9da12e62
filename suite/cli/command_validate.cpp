// SPDX-License-Identifier: Apache-2.0
// assay validate: a document against the schema compiled into the program.
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/report/printable.hpp"
#include "suite/run/consistency.hpp"

namespace assay::cli {
namespace {

struct ValidateOptions {
  std::string file;
  bool json = false;
};

Exit run_validate(const ValidateOptions& options, const Context& context) {
  std::string warning;
  auto text = json::read_file(options.file);
  auto kind = text ? json::validate(*text, options.file, &warning) : Result<DocumentKind>(text.error());
  if (kind && (*kind == DocumentKind::run || *kind == DocumentKind::measure)) {
    const auto document = json::read_document(*text, options.file);
    const auto agrees =
        document ? run::check_document(*document, options.file, !warning.empty()) : Result<void>(document.error());
    if (!agrees) kind = agrees.error();
  }
  if (!kind) {
    if (options.json) {
      const nlohmann::ordered_json answer{{"file", options.file}, {"valid", false}, {"problem", kind.error().text}};
      context.out << answer.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    }
    return context.fail(kind.error());
  }
  if (!warning.empty()) context.err << "assay: " << report::printable(warning) << '\n';
  if (options.json) {
    const nlohmann::ordered_json answer{{"file", options.file}, {"valid", true}, {"kind", json::to_text(*kind)}};
    context.out << answer.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  } else {
    context.out << report::printable(options.file) << ": a valid document of kind " << json::to_text(*kind) << '\n';
  }
  return Exit::done;
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  auto options = std::make_shared<ValidateOptions>();
  auto& command = *app.add_subcommand("validate", "Check a document against the schema");
  add_text(command, "file", options->file, "Document to check")->required();
  command.add_flag("--json", options->json, "One JSON object instead of a sentence");
  command.footer("Example:\n  assay validate run.json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_validate(*options, context); }; });
}

}  // namespace assay::cli
