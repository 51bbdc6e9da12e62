// SPDX-License-Identifier: Apache-2.0
// assay report: the summary or the decision card of a document.
#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/report/card.hpp"
#include "suite/report/memory_summary.hpp"
#include "suite/report/summary.hpp"

namespace assay::cli {
namespace {

struct Options {
  std::string file;
  std::string reserve_gib;
  bool card = false;
  bool memory = false;  // --summary
  bool json = false;
};

Exit run_report(const Options& options, const Context& context) {
  report::CardOptions card;
  if (!options.reserve_gib.empty()) {
    auto bytes = parse_scaled(options.reserve_gib, std::int64_t{1} << 30);
    if (!bytes) return context.fail({ErrorCode::usage, "--reserve-gib: " + bytes.error().text});
    card.reserve_bytes = *bytes;
  }
  auto text = json::read_file(options.file);
  if (!text) return context.fail(text.error());
  std::string warning;
  auto document = json::read_document(*text, options.file, &warning);
  if (!document) return context.fail(document.error());
  if (auto agrees = json::check_consistency(*document, options.file); !agrees) return context.fail(agrees.error());
  if (!warning.empty()) context.err << "assay: " << warning << '\n';
  if (options.json) {
    auto again = json::write_document(*document);
    if (!again) return context.fail(again.error());
    context.out << *again;
  } else if (options.memory) {
    context.out << report::memory_summary(*document);
  } else {
    context.out << (options.card ? report::card(*document, card) : report::summary(*document, context.color));
  }
  return Exit::done;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("report", "Summary or decision card of a run or measure document");
  add_text(command, "file", options->file, "Document to read")->required();
  auto* card = command.add_flag("--card", options->card, "One page: computed, observed, assumed");
  add_text(command, "--reserve-gib", options->reserve_gib, "A reserve you assume, on the card only")->needs(card);
  auto* memory = command.add_flag("--summary", options->memory, "The rows of torch.cuda.memory_summary");
  memory->excludes(card);
  command.add_flag("--json", options->json, "The document as this version writes it")->excludes(card)->excludes(memory);
  command.footer(
      "Examples:\n"
      "  assay report run.json\n"
      "  assay report --card --reserve-gib 4 run.json\n"
      "  assay report --summary run.json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_report(*options, context); }; });
}

}  // namespace assay::cli
