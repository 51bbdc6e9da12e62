// SPDX-License-Identifier: Apache-2.0
// assay duel: the same plan on two modules, interleaved: the toolkit upgrade question.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "suite/cli/compare_commands.hpp"
#include "suite/cli/comparison_output.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/progress.hpp"
#include "suite/cli/version.hpp"
#include "suite/cli/work_options.hpp"
#include "suite/compare/compare.hpp"
#include "suite/duel/duel.hpp"
#include "suite/modules/choose.hpp"
#include "suite/process/child.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/run/run.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct DuelOptions {
  std::string a;
  std::string b;
  std::string prefix = "duel";
  planning::Request work;
  ComparisonOutput output;
};

// A path is a module's file; a name with a colon is a device; anything else a backend.
void point_at(planning::Request& request, const std::string& module) {
  if (module.find('/') != std::string::npos)
    request.module = module;
  else if (module.find(':') != std::string::npos)
    request.devices = {module};
  else
    request.backend = module;
}

Result<Plan> plan_for(const DuelOptions& options, const std::string& program, const modules::Prober& prober) {
  const auto installed = modules::installed_modules(program);
  const auto one = [&](const std::string& module) {
    auto request = options.work;
    if (!request.launches) request.launches = 7;
    point_at(request, module);
    return planning::make_plan(request, installed, prober);
  };
  auto a = one(options.a);
  if (!a) return a.error();
  auto b = one(options.b);
  if (!b) return b.error();
  return duel::plan_of(*a, *b);
}

struct Paths {
  fs::path common;  // of the run both sides share, with its journal; gone once the three are written
  fs::path a;
  fs::path b;
  fs::path compare;
};

Paths paths_of(const std::string& prefix) {
  return {prefix + "-both.json", prefix + "-a.json", prefix + "-b.json", prefix + "-compare.json"};
}

Result<void> check_paths(const Paths& paths) {
  for (const auto& path : {paths.common, paths.a, paths.b, paths.compare})
    if (auto checked = json::check_output(path); !checked) return checked;
  return {};
}

Result<void> write_side(const RunDocument& document, const fs::path& path) {
  auto text = json::write_document(document);
  return text ? json::write_new_file(path, *text) : Result<void>(text.error());
}

Exit run_duel(DuelOptions options, const Context& context) {
  for (const auto& [name, value] : {std::pair("--a", &options.a), std::pair("--b", &options.b)})
    if (value->empty())
      return context.fail({ErrorCode::usage, fmt::format("assay duel needs {}; see assay duel --help", name)});
  const process::InterruptGuard guard;
  const auto paths = paths_of(options.prefix);
  if (auto checked = check_paths(paths); !checked) return context.fail(checked.error());
  const auto program = process::own_path();
  if (!program) return context.fail(program.error());
  const auto prober = modules::child_prober(*program);
  auto plan = plan_for(options, *program, prober);
  if (!plan) return context.fail(plan.error());
  Progress progress(context.err, context.progress);
  const auto built = version();
  run::Request request;
  request.plan = std::move(*plan);
  request.argv = context.argv;
  request.suite_version = built.version;
  request.suite_commit = built.commit;
  request.suite_dirty = built.dirty;
  request.output = paths.common;
  request.program = *program;
  request.prober = prober;
  request.on_progress = [&progress](std::string_view text) { progress.show(text); };
  const auto outcome = run::execute(request);
  progress.clear();
  if (!outcome) return context.fail(outcome.error());
  if (outcome->interrupted)
    return context.fail(
        {ErrorCode::interrupted, fmt::format("interrupted; what was measured is in {}", paths.common.string())});
  auto sides = duel::split(outcome->document);
  if (auto written = write_side(sides.a, paths.a); !written) return context.fail(written.error());
  if (auto written = write_side(sides.b, paths.b); !written) return context.fail(written.error());
  std::error_code ignored;
  fs::remove(paths.common, ignored);  // both halves are on disk
  compare::Options rule;
  rule.one_series = true;
  const std::vector<compare::Source> a{{paths.a.string(), std::move(sides.a)}};
  const std::vector<compare::Source> b{{paths.b.string(), std::move(sides.b)}};
  auto comparison = compare::compare_sources(a, b, rule);
  if (!comparison) return context.fail(comparison.error());
  options.output.document = paths.compare.string();
  return give_comparison(std::move(*comparison), options.output, context);
}

}  // namespace

void add_duel(CLI::App& app, Context& context) {
  auto options = std::make_shared<DuelOptions>();
  auto& command = *app.add_subcommand("duel", "The same plan on two modules, launches interleaved: which is faster");
  add_text(command, "--a", options->a, "Module that is the baseline: a name, a device, or a file");
  add_text(command, "--b", options->b, "Module held against it");
  add_text(command, "-o,--output", options->prefix, "Beginning of three files: -a, -b, -compare.json (duel)");
  add_comparison_form(command, options->output);
  add_choice(command, "--suite", options->work.suite, {"quick", "standard", "full"}, "Instead of one workload");
  add_work_options(command, options->work);
  command.footer(
      "Launches alternate A B B A, so that a drift of the machine falls on both sides alike; seven a side\n"
      "unless --launches says otherwise. Verdicts and exit codes are those of assay compare.\n\n"
      "Examples:\n"
      "  assay duel --a cuda-12.4 --b cuda-13.0 --suite standard\n"
      "  assay duel --a ./old/libassay-host.so --b ./new/libassay-host.so --workload dense");
  command.callback(
      [options, &context] { context.action = [options, &context] { return run_duel(*options, context); }; });
}

}  // namespace assay::cli
