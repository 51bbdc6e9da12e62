// SPDX-License-Identifier: Apache-2.0
// assay export: a run document in the format of another program.
#include <filesystem>
#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/compare_commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/compare/redact.hpp"
#include "suite/export/export.hpp"
#include "suite/report/printable.hpp"
#include "suite/run/consistency.hpp"

namespace assay::cli {
namespace {

struct ExportOptions {
  std::string file;
  std::string format;
  std::string output;
  bool force = false;
  bool redact = false;
};

Result<std::string> exported(const RunDocument& document, const std::string& format) {
  if (format == "chrome-trace") return exporting::chrome_trace(document);
  if (format == "openmetrics") return exporting::openmetrics(document);
  if (format == "google-benchmark") return exporting::google_benchmark(document);
  return json::write_document(document);
}

Exit run_export(const ExportOptions& options, const Context& context) {
  if (options.format.empty())
    return context.fail({ErrorCode::usage, "assay export needs --format; see assay export --help"});
  const bool replaces = options.force && std::filesystem::is_regular_file(options.output);
  if (!options.output.empty() && !replaces)
    if (auto checked = json::check_output(options.output); !checked) return context.fail(checked.error());
  auto text = json::read_file(options.file);
  if (!text) return context.fail(text.error());
  std::string warning;
  auto document = json::read_document(*text, options.file, &warning);
  if (!document) return context.fail(document.error());
  if (auto agrees = run::check_document(*document, options.file, !warning.empty()); !agrees)
    return context.fail(agrees.error());
  if (!warning.empty()) context.err << "assay: " << report::printable(warning) << '\n';
  if (options.redact) compare::redact(*document);
  auto out = exported(*document, options.format);
  if (!out) return context.fail(out.error());
  if (options.output.empty()) {
    context.out << *out;
    return Exit::done;
  }
  // Written whole under another name first, so that a full disk never costs the file that was there.
  const std::string target = replaces ? options.output + ".new" : options.output;
  if (auto written = json::write_new_file(target, *out); !written) return context.fail(written.error());
  if (std::error_code failure; replaces) {
    std::filesystem::rename(target, options.output, failure);
    if (failure)
      return context.fail({ErrorCode::output, "cannot replace " + options.output + ": " + failure.message() +
                                                  "; the new text is in " + target});
  }
  return Exit::done;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExportOptions>();
  auto& command = *app.add_subcommand("export", "A run document in another program's format");
  add_text(command, "file", options->file, "Run or measure document to read")->required();
  add_choice(command, "--format", options->format, {"chrome-trace", "openmetrics", "google-benchmark", "document"},
             "chrome-trace, openmetrics, google-benchmark, or document");
  auto* output = add_text(command, "-o,--output", options->output, "File to write instead of standard output");
  command.add_flag("--force", options->force, "Replace the file when it is there")->needs(output);
  command.add_flag("--redact", options->redact, "Leave out host names, paths, serial numbers, variables");
  command.footer(
      "chrome-trace: memory and phases over time, for Perfetto or chrome://tracing.\n"
      "openmetrics: medians and peaks for a textfile collector or a pushgateway.\n"
      "google-benchmark: times for compare.py, one repetition a launch.\n"
      "document: the document itself, of use with --redact.\n\n"
      "Examples:\n"
      "  assay export run.json --format chrome-trace --output run.trace.json\n"
      "  assay export run.json --format openmetrics --output /var/lib/node-exporter/assay.prom --force\n"
      "  assay export run.json --format document --redact --output public.json");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_export(*options, context); }; });
}

}  // namespace assay::cli
