// SPDX-License-Identifier: Apache-2.0
// The self-test's plan, its folder, and what it prints.
#include "suite/cli/self_test.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "suite/cli/progress.hpp"
#include "suite/cli/version.hpp"
#include "suite/compare/cases.hpp"
#include "suite/duel/duel.hpp"
#include "suite/modules/choose.hpp"
#include "suite/plan/request.hpp"
#include "suite/process/child.hpp"
#include "suite/process/interrupt.hpp"
#include "suite/report/comparison.hpp"
#include "suite/report/table.hpp"
#include "suite/stats/summary.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// Removed with everything in it when the self-test ends.
class Folder {
 public:
  static Result<Folder> create() {
    std::error_code failure;
    const auto base = fs::temp_directory_path(failure);
    auto name = ((failure ? fs::path("/tmp") : base) / "assay-self-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return Error{ErrorCode::output,
                   fmt::format("cannot create a folder {}: {}; set TMPDIR to one that can be written", name,
                               std::strerror(errno))};
    return Folder(name);
  }
  Folder(Folder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit Folder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// A small network, so that a family takes seconds; enough repeats that a launch's median means something.
planning::Request work_of(const SelfTestOptions& options) {
  planning::Request request;
  request.backend = "host";
  request.workload.kind = "dense";
  request.workload.batch = 2;
  request.workload.prompt = 64;
  request.workload.width = 256;
  request.workload.depth = 4;
  request.workload.warmups = 3;
  request.workload.repeats = 15;
  request.launches = options.launches;
  return request;
}

struct Sums {
  std::size_t families = 0;
  std::size_t alarmed = 0;  // families with a false alarm
  std::size_t missed = 0;   // families with a missed slow-down
};

Sums sums_of(const duel::SelfTestResult& result) {
  Sums sums;
  for (const auto& family : result.families) {
    ++sums.families;
    sums.alarmed += family.false_alarms > 0 ? 1U : 0U;
    sums.missed += family.missed > 0 ? 1U : 0U;
  }
  return sums;
}

constexpr double kLevel = 0.95;

void print(const duel::SelfTestResult& result, const Sums& sums, const Context& context) {
  for (const auto& family : result.families) {
    report::Table table({"Case", ">Itself", "Verdict", ">Slowed", "Verdict"});
    for (const auto& said : family.same.cases) {
      const ComparedCase* slowed = nullptr;
      for (const auto& other : family.slowed.cases)
        if (other.name == said.name) slowed = &other;
      const auto ratio = [](const ComparedCase* c) {
        return c != nullptr && c->ratio.value ? report::percent(*c->ratio.value) : std::string("n/a");
      };
      table.add({said.name + (said.name == compare::kAnchor ? " (not slowed)" : ""), ratio(&said),
                 std::string(report::to_text(said.verdict)), ratio(slowed),
                 slowed == nullptr ? "missing" : std::string(report::to_text(slowed->verdict))});
    }
    context.out << fmt::format("Injected slow-down: {:.1f} %\n", 100 * family.slow_down) << table.text() << '\n';
  }
  context.out << fmt::format(
      "False alarms: {} of {} families; with {:.0f} % confidence the rate is at most {:.1f} %\n"
      "Missed slow-downs: {} of {} families; with {:.0f} % confidence the rate is at most {:.1f} %\n",
      sums.alarmed, sums.families, 100 * kLevel, 100 * stats::upper_bound_of_rate(sums.alarmed, sums.families, kLevel),
      sums.missed, sums.families, 100 * kLevel, 100 * stats::upper_bound_of_rate(sums.missed, sums.families, kLevel));
}

void print_json(const duel::SelfTestResult& result, const Sums& sums, const Context& context) {
  using Json = nlohmann::ordered_json;
  Json families = Json::array();
  for (const auto& family : result.families)
    families.push_back(
        Json{{"false_alarms", family.false_alarms}, {"slow_down", family.slow_down}, {"missed", family.missed}});
  const Json answer{{"families", families},
                    {"families_alarmed", sums.alarmed},
                    {"families_alarmed_upper_bound", stats::upper_bound_of_rate(sums.alarmed, sums.families, kLevel)},
                    {"families_missed", sums.missed},
                    {"families_missed_upper_bound", stats::upper_bound_of_rate(sums.missed, sums.families, kLevel)},
                    {"level", kLevel}};
  context.out << answer.dump(2) << '\n';
}

}  // namespace

Exit run_self_test(const SelfTestOptions& options, double alpha, double margin, bool json, const Context& context) {
  const process::InterruptGuard guard;
  const auto program = process::own_path();
  if (!program) return context.fail(program.error());
  const auto folder = Folder::create();
  if (!folder) return context.fail(folder.error());
  const auto prober = modules::child_prober(*program);
  auto plan = planning::make_plan(work_of(options), modules::installed_modules(*program), prober);
  if (!plan) return context.fail(plan.error());
  Progress progress(context.err, context.progress);
  const auto built = version();
  duel::SelfTestRequest request;
  request.run.plan = std::move(*plan);
  request.run.argv = context.argv;
  request.run.suite_version = built.version;
  request.run.suite_commit = built.commit;
  request.run.suite_dirty = built.dirty;
  request.run.program = *program;
  request.run.prober = prober;
  request.run.on_progress = [&progress](std::string_view text) { progress.show(text); };
  request.folder = folder->path();
  request.families = static_cast<std::size_t>(options.families);
  request.alpha = alpha;
  request.margin = margin;
  const auto result = duel::self_test(request);
  progress.clear();
  if (!result) return context.fail(result.error());
  const auto sums = sums_of(*result);
  json ? print_json(*result, sums, context) : print(*result, sums, context);
  return sums.alarmed + sums.missed > 0 ? Exit::regression : Exit::done;
}

}  // namespace assay::cli
