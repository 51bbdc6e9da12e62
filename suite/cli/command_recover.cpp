// SPDX-License-Identifier: Apache-2.0
// assay recover: a document from the journal of a run that was cut short.
#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/report/facts.hpp"
#include "suite/report/printable.hpp"

namespace assay::cli {
namespace {

struct RecoverOptions {
  std::string journal;
  std::string output;
  bool json = false;
};

// What the run itself would have written: the journal's name without its ending.
std::string output_of(const std::string& journal) {
  constexpr std::string_view kEnding = ".journal";
  return journal.ends_with(kEnding) ? journal.substr(0, journal.size() - kEnding.size()) : journal + ".json";
}

Exit run_recover(const RecoverOptions& options, const Context& context) {
  const auto output = options.output.empty() ? output_of(options.journal) : options.output;
  if (auto checked = json::check_output(output); !checked) return context.fail(checked.error());
  auto document = json::recover(options.journal);
  if (!document) return context.fail(document.error());
  auto text = json::write_document(*document);
  if (!text) return context.fail(text.error());
  if (auto written = json::write_new_file(output, *text); !written) return context.fail(written.error());
  json::remove_leftover(output_of(options.journal));  // the killed run's own
  std::size_t launches = 0;
  for (const auto& device : document->devices) launches += device.launches.size();
  if (options.json)
    context.out << *text;
  else
    context.out << report::printable(output) << ": " << report::to_text(document->status) << " document with "
                << launches << (launches == 1 ? " launch" : " launches") << "; the journal is kept\n";
  return Exit::done;
}

}  // namespace

void add_recover(CLI::App& app, Context& context) {
  auto options = std::make_shared<RecoverOptions>();
  auto& command = *app.add_subcommand("recover", "Make a document of the journal of a run that was cut short");
  add_text(command, "journal", options->journal, "Journal to read, <output>.journal")->required();
  add_text(command, "-o,--output", options->output, "Document to write; the run's own name by default");
  command.add_flag("--json", options->json, "Print the document instead of a sentence");
  command.footer("Example:\n  assay recover run.json.journal");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_recover(*options, context); }; });
}

}  // namespace assay::cli
