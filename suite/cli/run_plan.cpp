// SPDX-License-Identifier: Apache-2.0
// run_plan: from options to a document on disk and a summary on the screen.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>

#include "results-schema/json/json.hpp"
#include "suite/cli/progress.hpp"
#include "suite/cli/run_options.hpp"
#include "suite/cli/version.hpp"
#include "suite/modules/choose.hpp"
#include "suite/plan/request.hpp"
#include "suite/process/child.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/report/printable.hpp"
#include "suite/report/summary.hpp"
#include "suite/run/consistency.hpp"
#include "suite/run/run.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournalEnding = ".journal";

std::string default_output(DocumentKind kind) {
  auto stamp = run::timestamp();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("assay-{}-{}-{}.json", json::to_text(kind), stamp, run::random_id().substr(0, 8));
}

// Nothing may be measured that could not be kept.
Result<void> check_outputs(const fs::path& output, const fs::path& resumed) {
  if (auto checked = json::check_output(output); !checked) return checked;
  const auto journal = json::journal_path(output);
  std::error_code failure;
  if (fs::equivalent(journal, resumed, failure))
    return Error{ErrorCode::output, fmt::format("{} is being resumed and cannot also be written; name another --output",
                                                journal.string())};
  switch (json::journal_state(journal)) {
    case json::JournalState::absent:
    case json::JournalState::nothing:  // replaced when the run begins
      return {};
    case json::JournalState::alive:
      return Error{ErrorCode::output, fmt::format("a run that is alive writes {}; wait for its end or name another "
                                                  "--output",
                                                  output.string())};
    case json::JournalState::holds:
      break;
  }
  return Error{ErrorCode::output,
               fmt::format("{} is the journal of a run that was cut short; complete it with --resume {} and another "
                           "--output, or make a document of it with assay recover",
                           journal.string(), journal.string())};
}

Result<void> check_instruments(const measure::Instruments& instruments, const Plan& plan, const fs::path& output) {
  if (instruments.record_trace == instruments.snapshot && !instruments.snapshot.empty())
    return Error{ErrorCode::usage, "--record-trace and --snapshot name the same file; give each its own"};
  const std::int64_t launches = run::launch_count(plan);
  for (const std::string* path : {&instruments.record_trace, &instruments.snapshot}) {
    if (path->find_first_of("\r\n") != std::string::npos)
      return Error{ErrorCode::usage, "a file of --record-trace or --snapshot cannot have a line break in its name"};
    for (std::int64_t order = 0; order < launches && !path->empty(); ++order) {
      const auto file = measure::path_of_launch(*path, order, launches);
      if (auto checked = json::check_output(file); !checked) return checked;
      if (fs::path(file) == output)
        return Error{ErrorCode::usage, fmt::format("{} is also the --output; give each file its own name", file)};
    }
  }
  return {};
}

Result<RunDocument> read_earlier(const std::string& path) {
  auto text = json::read_file(path);
  if (!text) return text.error();
  if (path.ends_with(kJournalEnding)) {
    json::remove_leftover(path.substr(0, path.size() - kJournalEnding.size()));
    return json::recover(path);
  }
  std::string warning;
  auto document = json::read_document(*text, path, &warning);
  if (!document) return document;
  if (auto agrees = run::check_document(*document, path, !warning.empty()); !agrees) return agrees.error();
  return document;
}

bool plans_anything(const planning::Request& request) {
  return !(request.workload == planning::WorkloadRequest{}) || !request.suite.empty() || !request.plan_file.empty() ||
         request.names_devices() || !request.allocator.empty() || !request.allocator_options.empty() ||
         request.launches || request.time_limit_s || request.host_memory_bytes || request.host_wave ||
         request.host_threads;
}

struct Prepared {
  Plan plan;
  std::optional<RunDocument> earlier;
};

Result<Prepared> prepare(const RunOptions& options, const std::string& program, const modules::Prober& prober) {
  Prepared out;
  if (options.resume.empty()) {
    auto plan = planning::make_plan(options.request, modules::installed_modules(program), prober);
    if (!plan) return plan.error();
    out.plan = std::move(*plan);
    return out;
  }
  if (plans_anything(options.request))
    return Error{ErrorCode::usage,
                 "--resume takes its plan and devices from the earlier run; leave out the options that "
                 "set them"};
  auto earlier = read_earlier(options.resume);
  if (!earlier) return earlier.error();
  if (earlier->kind != options.kind)
    return Error{ErrorCode::usage, fmt::format("{} is of kind {}; resume it with assay {}", options.resume,
                                               json::to_text(earlier->kind), json::to_text(earlier->kind))};
  out.plan = earlier->plan;
  run::drop_cut_short(*earlier);
  if (run::missing_steps(out.plan, *earlier).empty())
    return Error{ErrorCode::usage, fmt::format("{} lacks no launch; there is nothing to resume", options.resume)};
  out.earlier = std::move(*earlier);
  return out;
}

Exit exit_of_document(const run::Outcome& outcome) {
  if (outcome.interrupted) return Exit::interrupted;
  Exit exit = Exit::done;
  for (const auto& device : outcome.document.devices) {
    for (const auto& checked : device.cases)
      if (checked.status == CaseStatus::wrong)
        exit = strongest({exit, Exit::wrong_result});
      else if (checked.status == CaseStatus::failed)
        exit = strongest({exit, checked.code == "hung" ? Exit::hung : Exit::workload_failed});
    for (const auto& launch : device.launches) {
      if (launch.outcome == LaunchOutcome::hung) exit = strongest({exit, Exit::hung});
      if (launch.outcome == LaunchOutcome::failed || launch.outcome == LaunchOutcome::crashed)
        exit = strongest({exit, Exit::workload_failed});
    }
  }
  return exit;
}

}  // namespace

Exit run_plan(const RunOptions& options, const Context& context) {
  const process::InterruptGuard guard;
  const fs::path output = options.output.empty() ? default_output(options.kind) : options.output;
  if (auto checked = check_outputs(output, options.resume); !checked) return context.fail(checked.error());
  const auto program = process::own_path();
  if (!program) return context.fail(program.error());
  const auto prober = modules::child_prober(*program);
  auto prepared = prepare(options, *program, prober);
  if (!prepared) return context.fail(prepared.error());
  if (options.dry_run) {
    const auto text = json::write_plan(prepared->plan);
    context.out << text << (text.ends_with('\n') ? "" : "\n");
    return Exit::done;
  }
  if (auto checked = check_instruments(options.instruments, prepared->plan, output); !checked)
    return context.fail(checked.error());
  Progress progress(context.err, context.progress);
  const auto built = version();
  run::Request request;
  request.plan = std::move(prepared->plan);
  request.kind = options.kind;
  request.argv = context.argv;
  request.suite_version = built.version;
  request.suite_commit = built.commit;
  request.suite_dirty = built.dirty;
  request.output = output;
  request.resumed = std::move(prepared->earlier);
  request.program = *program;
  request.prober = prober;
  request.instruments = options.instruments;
  request.on_progress = [&progress](std::string_view text) { progress.show(text); };
  auto outcome = run::execute(request);
  progress.clear();
  if (!outcome) return context.fail(outcome.error());
  if (options.json) {
    auto text = json::write_document(outcome->document);
    if (!text) return context.fail(text.error());
    context.out << *text;
  } else {
    context.out << report::printable_lines(report::summary(outcome->document, context.color))
                << "\nDocument: " << report::printable(output.string()) << '\n';
  }
  if (outcome->interrupted)
    return context.fail(
        {ErrorCode::interrupted, fmt::format("interrupted; what was measured is in {}", output.string())});
  if (outcome->stopped)
    return context.fail({outcome->stopped->code, fmt::format("{}; what was measured before is in {}",
                                                             outcome->stopped->text, output.string())});
  // The reason also goes where a script that reads no summary finds it.
  const Exit exit = exit_of_document(*outcome);
  if (exit != Exit::done && !outcome->document.failures.empty()) {
    const auto& failure = outcome->document.failures.front();
    context.err << report::printable(fmt::format("assay: {}{}{}: {}", failure.device, failure.phase.empty() ? "" : ", ",
                                                 failure.phase, failure.message))
                << '\n';
  }
  return exit;
}

}  // namespace assay::cli
