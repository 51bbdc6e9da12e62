// SPDX-License-Identifier: Apache-2.0
// A comparison on its way out.
#include "suite/cli/comparison_output.hpp"

#include <ostream>

#include "results-schema/json/compare.hpp"
#include "results-schema/json/json.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"
#include "suite/compare/redact.hpp"
#include "suite/report/comparison.hpp"
#include "suite/run/run.hpp"

namespace assay::cli {

void add_comparison_output(CLI::App& command, ComparisonOutput& output) {
  add_text(command, "-o,--output", output.document, "Compare document to write; never overwritten");
  add_comparison_form(command, output);
}

void add_comparison_form(CLI::App& command, ComparisonOutput& output) {
  auto* format = add_choice(command, "--format", output.format, {"table", "markdown", "junit", "csv"},
                            "table (default), markdown, junit or csv");
  command.add_flag("--json", output.json, "Print JSON: identity, cases, memory, unmatched")->excludes(format);
  command.add_flag("--redact", output.redact, "Leave out host names, paths, serial numbers, variables");
}

Result<void> check_comparison_output(const ComparisonOutput& output) {
  return output.document.empty() ? Result<void>() : json::check_output(output.document);
}

std::string in_form(const Comparison& comparison, const std::string& format, bool color) {
  if (format == "markdown") return report::comparison_markdown(comparison);
  if (format == "junit") return report::comparison_junit(comparison);
  if (format == "csv") return report::comparison_csv(comparison);
  return report::comparison_text(comparison, color);
}

Exit give_comparison(Comparison comparison, const ComparisonOutput& output, const Context& context) {
  const auto built = version();
  CompareDocument document;
  document.run = {run::random_id(), run::timestamp(), run::timestamp(), context.argv,
                  built.version,    built.commit,     built.dirty};
  document.body = std::move(comparison);
  if (output.redact) compare::redact(document);
  if (!output.document.empty()) {
    auto text = json::write_compare(document);
    if (!text) return context.fail(text.error());
    if (auto written = json::write_new_file(output.document, *text); !written) return context.fail(written.error());
  }
  context.out << (output.json ? json::write_comparison(document.body)
                              : in_form(document.body, output.format, context.color));
  return static_cast<Exit>(document.body.exit_code);
}

}  // namespace assay::cli
