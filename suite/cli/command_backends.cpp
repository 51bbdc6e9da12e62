// SPDX-License-Identifier: Apache-2.0
// assay backends: the modules found, their devices, and why a module has none; and the hidden probe behind it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "suite/cli/commands.hpp"
#include "suite/cli/context.hpp"
#include "suite/cli/options.hpp"
#include "suite/cli/version.hpp"
#include "suite/identity/assemble.hpp"
#include "suite/modules/choose.hpp"
#include "suite/modules/identify.hpp"
#include "suite/modules/probe.hpp"
#include "suite/process/child.hpp"
#include "suite/report/table.hpp"

namespace assay::cli {
namespace {

using modules::ModuleProbe;

std::string why_silent(const ModuleProbe& probe) {
  if (probe.problem) return probe.problem->text;
  if (probe.no_device) return probe.no_device->text;
  return "it has no device";
}

bool answers(const ModuleProbe& probe) {
  return !probe.problem && probe.device_count > 0;
}

// "NVIDIA H200, sm_90, 139.8 GiB": the values that are there.
std::string summary(const Identity& identity) {
  std::string text;
  const auto add = [&](const std::optional<std::string>& part) {
    if (part) text += (text.empty() ? "" : ", ") + *part;
  };
  add(identity::text_value(identity, "device_name"));
  add(identity::text_value(identity, "arch"));
  add(identity::text_value(identity, "isa_level"));
  if (const auto bytes = identity::integer_value(identity, "memory_total_bytes"))
    add(fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / static_cast<double>(1LL << 30)));
  const auto refusals = std::count_if(identity.findings.begin(), identity.findings.end(),
                                      [](const auto& finding) { return finding.refuses; });
  if (refusals > 0) add("refused: see assay environment");
  return text.empty() ? "states nothing about itself" : text;
}

void print_table(const std::vector<ModuleProbe>& probes, const modules::ProgramFacts& facts, std::ostream& out) {
  report::Table table({"MODULE", "PLATFORM", "DEVICE", "WHAT IT IS, OR WHY IT DOES NOT ANSWER"},
                      report::Overflow::wrap);
  for (const auto& probe : probes) {
    const auto platform = probe.described("platform");
    const std::string shown = platform.empty() ? "unknown" : platform;
    if (!answers(probe)) table.add({probe.module.name, shown, "none", why_silent(probe)});
    for (const auto& device : probe.devices)
      table.add({probe.module.name, shown, fmt::format("{}:{}", probe.module.name, device.ordinal),
                 device.problem ? device.problem->text : summary(identity_of(probe, device.fields, facts))});
  }
  out << table.text("");
}

nlohmann::ordered_json as_json(const ModuleProbe& probe, const modules::ProgramFacts& facts) {
  nlohmann::ordered_json module{{"name", probe.module.name}, {"path", probe.module.path}};
  for (const char* key : {"backend", "platform", "toolkit_compiled", "compiler", "embedded_targets"}) {
    const auto text = probe.described(key);
    module[key] = text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  }
  module["answers"] = answers(probe);
  module["reason"] = answers(probe) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(why_silent(probe));
  module["devices"] = nlohmann::ordered_json::array();
  for (const auto& device : probe.devices) {
    nlohmann::ordered_json entry{{"name", fmt::format("{}:{}", probe.module.name, device.ordinal)}};
    entry["answers"] = !device.problem;
    entry["reason"] = device.problem ? nlohmann::ordered_json(device.problem->text) : nlohmann::ordered_json(nullptr);
    const auto identity = identity_of(probe, device.fields, facts);
    for (const char* key : {"device_name", "arch", "uuid", "memory_total_bytes"}) {
      const auto* field = identity.find(key);
      entry[key] = nullptr;
      if (field != nullptr && field->state == FieldState::value && !device.problem)
        std::visit([&](const auto& value) { entry[key] = value; }, field->value);
    }
    module["devices"].push_back(std::move(entry));
  }
  return module;
}

Exit list_backends(const Context& context, bool json) {
  const auto program = process::own_path();
  if (!program) return context.fail(program.error());
  const auto installed = modules::installed_modules(*program);
  std::vector<ModuleProbe> probes;
  for (const auto& module : installed.modules) {
    probes.push_back(modules::probe_module(*program, {module, modules::Depth::all_devices, 0, {}}));
    if (probes.back().problem && probes.back().problem->code == ErrorCode::interrupted)
      return context.fail(*probes.back().problem);
  }
  std::vector<std::string> folders;
  for (const auto& folder : installed.folders) folders.push_back(folder.string());
  const auto built = version();
  const modules::ProgramFacts facts{built.version, built.commit, built.dirty, "", ""};
  if (json) {
    nlohmann::ordered_json list{{"modules", nlohmann::ordered_json::array()}, {"searched", folders}};
    for (const auto& probe : probes) list["modules"].push_back(as_json(probe, facts));
    context.out << list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return Exit::done;
  }
  if (probes.empty())
    return context.fail({ErrorCode::no_device, "no module libassay-<name>.so is in " + modules::listed(folders) +
                                                   "; build one, or set ASSAY_MODULE_PATH to its folder"});
  print_table(probes, facts, context.out);
  return Exit::done;
}

Result<void> write_whole(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto count = ::write(process::kReportDescriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return Error{ErrorCode::output, "the report cannot be written; __probe is for the program's own use"};
    done += static_cast<std::size_t>(count);
  }
  return {};
}

struct ProbeWords {
  std::string path;
  bool all = false;
  std::int64_t ordinal = -1;
  std::vector<std::string> options;
  std::string allocator;
  std::string allocator_options;
};

Exit run_probe(const Context& context, const ProbeWords& words) {
  modules::ProbeRequest request;
  request.module = {"", words.path};
  if (words.all) request.depth = modules::Depth::all_devices;
  if (words.ordinal >= 0) request.depth = modules::Depth::one_device;
  request.ordinal = static_cast<std::int32_t>(words.ordinal);
  request.allocator = words.allocator;
  request.allocator_options = words.allocator_options;
  for (const auto& option : words.options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos)
      return context.fail({ErrorCode::usage, "option '" + option + "' is not of the form KEY=VALUE"});
    request.options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  Result<void> written;
  modules::probe_here(request, [&](const std::string& line) {
    if (written) written = write_whole(line + "\n");
  });
  return written ? Exit::done : context.fail(written.error());
}

}  // namespace

void add_backends(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("backends", "List the modules found, their devices, and why one does not answer");
  command->footer(
      "Each module is asked in a process of its own, so one that crashes or hangs costs only itself.\n\n"
      "Examples:\n"
      "  assay backends\n"
      "  assay backends --json\n"
      "  ASSAY_MODULE_PATH=$HOME/modules assay backends");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([&context, json] { context.action = [&context, json] { return list_backends(context, *json); }; });
}

void add_hidden_probe(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("__probe", "What a child process runs: one module's words on descriptor 3");
  command->group("");
  auto words = std::make_shared<ProbeWords>();
  command->add_option("path", words->path)->required();
  command->add_flag("--all", words->all);
  add_integer(*command, "--ordinal", words->ordinal, "Device to open", {0, 1 << 20});
  add_texts(*command, "--option", words->options, "KEY=VALUE of opening a device");
  command->add_option("--allocator", words->allocator);
  command->add_option("--allocator-options", words->allocator_options);
  command->callback([&context, words] { context.action = [&context, words] { return run_probe(context, *words); }; });
}

}  // namespace assay::cli
