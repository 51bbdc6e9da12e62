// SPDX-License-Identifier: Apache-2.0
// assay environment: the whole identity of one device, field by field, with what it forbids or marks.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>

#include "results-schema/json/json.hpp"
#include "results-schema/types/identity_fields.hpp"
#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"
#include "suite/identity/assemble.hpp"
#include "suite/modules/choose.hpp"
#include "suite/modules/identify.hpp"
#include "suite/process/child.hpp"
#include "suite/report/printable.hpp"
#include "suite/report/table.hpp"

namespace assay::cli {
namespace {

struct EnvironmentWords {
  std::string device;
  std::string backend;
  bool json = false;
};

void print_identity(const std::string& name, const Identity& identity, std::ostream& out) {
  out << report::printable(name) << "\n\n";
  report::Table table({"FIELD", "TIER", "VALUE"}, report::Overflow::wrap);
  for (const auto& field : identity.fields) {
    if (field.state == FieldState::not_applicable) continue;
    table.add({field.key, std::string(to_text(field.tier)), identity::shown(field)});
  }
  out << table.text("");
  std::string absent;
  for (const auto& field : identity.fields)
    if (field.state == FieldState::not_applicable) absent += (absent.empty() ? "" : ", ") + field.key;
  if (!absent.empty()) out << '\n' << report::wrapped(absent, "Not applicable on this platform: ", "");
  if (identity.findings.empty()) return;
  out << '\n';
  for (const auto& finding : identity.findings)
    out << report::wrapped(report::printable(finding.text), finding.refuses ? "REFUSED: " : "MARKED: ", "");
}

Exit show_environment(const Context& context, const EnvironmentWords& words) {
  const auto program = process::own_path();
  if (!program) return context.fail(program.error());
  const auto prober = modules::child_prober(*program);
  modules::DeviceRequest request;
  request.backend = words.backend;
  if (!words.device.empty()) request.devices.push_back(words.device);
  const auto devices = modules::choose_devices(request, modules::installed_modules(*program), prober);
  if (!devices) return context.fail(devices.error());
  if (devices->size() > 1)
    return context.fail({ErrorCode::usage, fmt::format("{} devices answer and one environment is shown; name one, as "
                                                       "in --device {}",
                                                       devices->size(), devices->front().planned.name)});
  const auto built = version();
  const auto& device = devices->front().planned;
  const auto identity = modules::identify(device, {built.version, built.commit, built.dirty, "", ""}, prober);
  if (!identity) return context.fail(identity.error());
  if (words.json)
    context.out << json::write_identity(*identity) << '\n';
  else
    print_identity(device.name, *identity, context.out);
  return Exit::done;
}

}  // namespace

void add_environment(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("environment", "Show the whole identity of one device and what it forbids");
  command->footer(
      "Without a name the only GPU backend that answers is shown; the host never steps in for a GPU.\n"
      "Each field has a tier: a difference in a thing means that something else was measured,\n"
      "in a change that it was upgraded; info decides nothing.\n\n"
      "Examples:\n"
      "  assay environment\n"
      "  assay environment --backend host\n"
      "  assay environment --device cuda:1 --json");
  auto words = std::make_shared<EnvironmentWords>();
  add_text(*command, "--device", words->device, "BACKEND[:INDEX or UUID], as assay backends lists them");
  add_text(*command, "--backend", words->backend, "The first device of this backend");
  command->add_flag("--json", words->json, "Print JSON");
  command->callback(
      [&context, words] { context.action = [&context, words] { return show_environment(context, *words); }; });
}

}  // namespace assay::cli
