// SPDX-License-Identifier: Apache-2.0
// assay report: the summary or the decision card of a document, or documents as an HTML page.
#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/json/compare.hpp"
#include "results-schema/json/derived_file.hpp"
#include "results-schema/json/json.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/comparison_output.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"
#include "suite/estimate/account.hpp"
#include "suite/report/card.hpp"
#include "suite/report/html.hpp"
#include "suite/report/memory_summary.hpp"
#include "suite/report/printable.hpp"
#include "suite/report/summary.hpp"
#include "suite/run/consistency.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string reserve_gib;
  std::string html;
  bool force = false;
  std::string format = "table";
  bool card = false;
  bool account = false;
  bool memory = false;  // --summary
  bool json = false;
};

Exit write_html(const ReportOptions& options, const Context& context) {
  if (auto allowed = json::check_derived(options.html, options.force); !allowed) return context.fail(allowed.error());
  std::vector<report::HtmlSource> sources;
  for (const auto& file : options.files) {
    auto text = json::read_file(file);
    if (!text) return context.fail(text.error());
    sources.push_back({file, std::move(*text)});
  }
  std::vector<std::string> warnings;
  const auto page = report::html_page(sources, std::string("assay ") + version().version, warnings);
  if (!page) return context.fail(page.error());
  for (const auto& warning : warnings) context.err << "assay: " << warning << '\n';
  if (auto written = json::write_derived(options.html, *page, options.force); !written)
    return context.fail(written.error());
  return Exit::done;
}

Exit show_comparison(const CompareDocument& document, const std::string& warning, const ReportOptions& options,
                     const Context& context) {
  if (options.card || options.memory || options.account)
    return context.fail({ErrorCode::usage, options.files.front() +
                                               " is a comparison, which has no card, memory summary "
                                               "or account; leave out --card, --summary and --account"});
  if (!warning.empty()) context.err << "assay: " << report::printable(warning) << '\n';
  context.out << (options.json ? json::write_comparison(document.body)
                               : in_form(document.body, options.format, context.color));
  return Exit::done;
}

Exit run_report(const ReportOptions& options, const Context& context) {
  if (!options.html.empty()) return write_html(options, context);
  if (options.files.size() != 1)
    return context.fail(
        {ErrorCode::usage, "one document at a time is shown here; give one, or write all to a page with --html FILE"});
  const std::string& file = options.files.front();
  report::CardOptions card;
  if (!options.reserve_gib.empty()) {
    auto bytes = parse_scaled(options.reserve_gib, std::int64_t{1} << 30);
    if (!bytes) return context.fail({ErrorCode::usage, "--reserve-gib: " + bytes.error().text});
    card.reserve_bytes = *bytes;
  }
  auto text = json::read_file(file);
  if (!text) return context.fail(text.error());
  std::string warning;
  auto document = json::read_document(*text, file, &warning);
  if (!document) {
    const auto compared = json::read_compare(*text, file, &warning);
    return compared ? show_comparison(*compared, warning, options, context) : context.fail(document.error());
  }
  if (options.format != "table")
    return context.fail({ErrorCode::usage, "--format " + options.format + " is a form of comparisons, and " + file +
                                               " is none; leave it out, or see assay export"});
  if (auto agrees = run::check_document(*document, file, !warning.empty()); !agrees)
    return context.fail(agrees.error());
  if (!warning.empty()) context.err << "assay: " << report::printable(warning) << '\n';
  if (options.json) {
    auto again = json::write_document(*document);
    if (!again) return context.fail(again.error());
    context.out << *again;
  } else if (options.account) {
    context.out << report::printable_lines(estimate::account_pages(*document));
  } else if (options.memory) {
    context.out << report::memory_summary(*document);
  } else {
    context.out << report::printable_lines(options.card ? report::card(*document, card)
                                                        : report::summary(*document, context.color));
  }
  return Exit::done;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  auto& command = *app.add_subcommand("report", "Summary or card of a document, a comparison in any form");
  add_texts(command, "file", options->files, "Document to read; several for --html")->required()->expected(1, -1);
  auto* card = command.add_flag("--card", options->card, "One page: computed, observed, assumed");
  add_text(command, "--reserve-gib", options->reserve_gib, "A reserve you assume, on the card only")->needs(card);
  auto* memory = command.add_flag("--summary", options->memory, "The rows of torch.cuda.memory_summary");
  memory->excludes(card);
  auto* account = command.add_flag("--account", options->account, "At every checkpoint, lines that add up to the byte")
                      ->excludes(card)
                      ->excludes(memory);
  auto* as_json = command.add_flag("--json", options->json, "The document as this version writes it")
                      ->excludes(card)
                      ->excludes(memory)
                      ->excludes(account);
  auto* html = add_text(command, "--html", options->html, "Write one self-contained page, of any kinds of documents")
                   ->excludes(card)
                   ->excludes(memory)
                   ->excludes(account)
                   ->excludes(as_json);
  command.add_flag("--force", options->force, "Replace the page when it exists")->needs(html);
  add_choice(command, "--format", options->format, {"table", "markdown", "junit", "csv"},
             "Of a comparison: table (default), markdown, junit or csv")
      ->excludes(card)
      ->excludes(memory)
      ->excludes(account)
      ->excludes(as_json)
      ->excludes(html);
  command.footer(
      "Examples:\n"
      "  assay report run.json\n"
      "  assay report --card --reserve-gib 4 run.json\n"
      "  assay report --summary run.json\n"
      "  assay report --account run.json\n"
      "  assay report --html report.html before.json after.json comparison.json\n"
      "  assay report --format markdown verdict.json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_report(*options, context); }; });
}

}  // namespace assay::cli
