// SPDX-License-Identifier: Apache-2.0
// assay compare: two documents or series, verdicts or the refusal with its reasons.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/compare_commands.hpp"
#include "suite/cli/comparison_output.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/progress.hpp"
#include "suite/cli/self_test.hpp"
#include "suite/compare/compare.hpp"
#include "suite/report/printable.hpp"
#include "suite/run/consistency.hpp"
#include "suite/run/run.hpp"

namespace assay::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> candidates;
  std::vector<std::string> baselines;
  std::string baseline_file;
  std::string name;
  std::string margin_percent = "3";
  std::string alpha = "0.05";
  std::optional<std::int64_t> memory_tolerance_bytes;
  bool across = false;
  ComparisonOutput output;
  SelfTestOptions self_test;
};

Result<double> number_between(const std::string& option, const std::string& text, double above, double below) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (failure != std::errc() || at != end || !(value > above) || !(value < below))
    return Error{ErrorCode::usage, fmt::format("{} takes a number above {:g} and below {:g}, and \"{}\" is none",
                                               option, above, below, text)};
  return value;
}

Result<std::vector<compare::Source>> read_all(const std::vector<std::string>& paths, const Context& context,
                                              Progress& progress) {
  std::vector<compare::Source> out;
  for (const auto& path : paths) {
    progress.show("reading " + path);
    std::string warning;
    Result<RunDocument> document = Error{};
    {
      auto text = json::read_file(path);
      if (!text) return text.error();
      document = json::read_document(*text, path, &warning);
    }
    if (!document) return document.error();
    if (auto agrees = run::check_document(*document, path, !warning.empty()); !agrees) return agrees.error();
    if (!warning.empty()) {
      progress.clear();
      context.err << "assay: " << report::printable(warning) << '\n';
    }
    out.push_back({path, std::move(*document)});
  }
  return out;
}

Exit run_compare(const CompareOptions& options, const Context& context) {
  compare::Options rule;
  const auto margin = number_between("--margin", options.margin_percent, 0, 1000);
  if (!margin) return context.fail(margin.error());
  const auto alpha = number_between("--alpha", options.alpha, 0, 1);
  if (!alpha) return context.fail(alpha.error());
  rule.margin = *margin / 100;
  rule.alpha = *alpha;
  rule.memory_tolerance_bytes = options.memory_tolerance_bytes.value_or(0);
  rule.across = options.across;
  rule.today = run::timestamp().substr(0, 10);
  if (options.self_test.wanted) {
    if (!options.candidates.empty() || !options.baselines.empty())
      return context.fail({ErrorCode::usage, "--self-test measures by itself; leave out the documents"});
    return run_self_test(options.self_test, rule.alpha, rule.margin, options.output.json, context);
  }
  auto baselines = options.baselines;
  if (!options.baseline_file.empty()) {
    auto file = compare::read_baseline(options.baseline_file, options.name);
    if (!file) return context.fail(file.error());
    if (baselines.empty()) baselines = file->documents;
    rule.baseline = std::move(*file);
  }
  if (options.candidates.empty() || baselines.empty())
    return context.fail({ErrorCode::usage,
                         "assay compare needs documents of the candidate and --baseline documents to hold them "
                         "against, as in assay compare new.json --baseline old.json"});
  if (auto checked = check_comparison_output(options.output); !checked) return context.fail(checked.error());
  Progress progress(context.err, context.progress);
  auto candidate = read_all(options.candidates, context, progress);
  if (!candidate) return context.fail(candidate.error());
  auto baseline = read_all(baselines, context, progress);
  if (!baseline) return context.fail(baseline.error());
  progress.show("comparing");
  auto comparison = compare::compare_sources(*baseline, *candidate, rule);
  progress.clear();
  if (!comparison) return context.fail(comparison.error());
  return give_comparison(std::move(*comparison), options.output, context);
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  auto options = std::make_shared<CompareOptions>();
  auto& command = *app.add_subcommand("compare", "Verdicts between two series, or why they cannot be compared");
  command.add_option("documents", options->candidates, "Run documents of the candidate: one, or a series of one plan")
      ->type_name("FILE");
  command.add_option("--baseline", options->baselines, "Run documents to hold them against: one, or a series")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* file = add_text(command, "--baseline-file", options->baseline_file,
                        "Named baselines, margins of single cases, accepted regressions");
  add_text(command, "--name", options->name, "Baseline of that file to use")->needs(file);
  add_text(command, "--margin", options->margin_percent, "Per cent that count as no change (3)");
  add_text(command, "--alpha", options->alpha, "Chance of one false alarm over all cases (0.05)");
  add_size(command, "--memory-tolerance", options->memory_tolerance_bytes, "Growth of a peak that is no finding (0B)");
  command.add_flag("--across", options->across, "Ratios between different things, without verdicts");
  add_comparison_output(command, options->output);
  auto* self = command.add_flag("--self-test", options->self_test.wanted, "One binary against itself, and slowed");
  add_integer(command, "--families", options->self_test.families, "Repetitions of the self-test (1)", {1, 1000})
      ->needs(self);
  add_integer(command, "--launches", options->self_test.launches, "Launches a side in the self-test (7)", {7, 1000})
      ->needs(self);
  command.footer(
      "Identity comes first: different things are never compared (exit 3). Then each case: regressed or\n"
      "improved when the exact rank test, adjusted over all cases, and the margin agree; same when the\n"
      "interval lies inside the margin; inconclusive otherwise, with the launches that would decide.\n"
      "Exit: 0 no regression, 1 regression, 3 not comparable, 4 inconclusive, 5 a wrong result.\n\n"
      "Examples:\n"
      "  assay compare new.json --baseline old.json\n"
      "  assay compare new-*.json --baseline old-*.json --margin 5 --output verdict.json\n"
      "  assay compare --self-test --families 5\n"
      "  assay compare mi300x.json --baseline h100.json --across\n"
      "  assay compare new.json --baseline-file baselines.json --name main --format markdown");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_compare(*options, context); }; });
}

}  // namespace assay::cli
