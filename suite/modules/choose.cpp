// SPDX-License-Identifier: Apache-2.0
// The rules of choosing; every module is asked through the prober, so that tests can answer for it.
#include "suite/modules/choose.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace assay::modules {
namespace {

using Chosen = std::vector<ChosenDevice>;

constexpr std::string_view kHostHint = "name --backend host to measure the CPU instead";

// BACKEND and what follows its colon. A path's colon counts only behind its last slash.
std::pair<std::string, std::optional<std::string>> split(const std::string& word) {
  const auto slash = word.rfind('/');
  const auto colon = word.find(':', slash == std::string::npos ? 0 : slash);
  if (colon == std::string::npos) return {word, std::nullopt};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

std::optional<std::int32_t> as_index(const std::string& word) {
  std::int32_t index = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (failure != std::errc{} || end != word.data() + word.size() || index < 0) return std::nullopt;
  return index;
}

std::string reason_of(const ModuleProbe& probe) {
  if (probe.problem) return probe.problem->text;
  if (probe.no_device) return probe.no_device->text;
  return "it has no device";
}

Result<Platform> platform_of(const ModuleProbe& probe) {
  if (const auto platform = parse_platform(probe.described("platform"))) return *platform;
  return Error{ErrorCode::bad_input,
               "module " + probe.module.path +
                   " does not say whose hardware executes; use a module of the program's own version"};
}

Result<ChosenDevice> chosen(const ModuleProbe& probe, std::int32_t ordinal) {
  const auto platform = platform_of(probe);
  if (!platform) return platform.error();
  ChosenDevice device;
  device.planned.name = probe.module.name + ":" + std::to_string(ordinal);
  device.planned.backend = probe.module.name;
  device.planned.module_path = probe.module.path;
  device.planned.ordinal = ordinal;
  device.platform = *platform;
  return device;
}

// A probe of a module that was named, or the error that ends the choice.
Result<ModuleProbe> ask_named(const std::string& backend, Depth depth, const Installed& installed,
                              const Prober& prober) {
  const auto module = resolve(backend, installed.modules, installed.folders);
  if (!module) return module.error();
  auto probe = prober({*module, depth, 0, {}});
  if (probe.problem) return *probe.problem;
  if (probe.device_count <= 0)
    return Error{ErrorCode::no_device,
                 "backend " + module->name + " has no device: " + reason_of(probe) + "; " +
                     (probe.described("platform") == "cpu" ? "give the host memory" : std::string(kHostHint))};
  return probe;
}

Result<ChosenDevice> by_uuid(const std::string& backend, const std::string& word, const Installed& installed,
                             const Prober& prober) {
  const auto probe = ask_named(backend, Depth::all_devices, installed, prober);
  if (!probe) return probe.error();
  std::vector<std::int32_t> matches;
  for (const auto& device : probe->devices)
    for (const auto& field : device.fields)
      if (field.key == "uuid" && field.state == FieldState::value)
        if (const auto* uuid = std::get_if<std::string>(&field.value); uuid != nullptr && means_uuid(word, *uuid))
          matches.push_back(device.ordinal);
  if (matches.size() == 1) return chosen(*probe, matches.front());
  if (matches.empty())
    return Error{ErrorCode::no_device,
                 "no device of backend " + probe->module.name + " has the uuid " + word + "; see assay backends"};
  return Error{ErrorCode::usage,
               "uuid " + word + " means several devices of backend " + probe->module.name + "; write more of it"};
}

Result<ChosenDevice> choose_named(const std::string& word, const Installed& installed, const Prober& prober) {
  const auto [backend, selector] = split(word);
  if (backend.empty() || (selector && selector->empty()))
    return Error{ErrorCode::usage,
                 "device '" + word + "' is not of the form BACKEND[:INDEX or UUID]; see assay backends"};
  const auto index = selector ? as_index(*selector) : std::optional<std::int32_t>(0);
  if (!index) return by_uuid(backend, *selector, installed, prober);
  const auto probe = ask_named(backend, Depth::module, installed, prober);
  if (!probe) return probe.error();
  if (*index >= probe->device_count)
    return Error{ErrorCode::no_device, "backend " + probe->module.name + " has " + std::to_string(probe->device_count) +
                                           (probe->device_count == 1 ? " device" : " devices") +
                                           ", so there is no device " + std::to_string(*index) +
                                           "; see assay backends"};
  return chosen(*probe, *index);
}

// GPU modules that have a device, and why the others have none.
struct Answers {
  std::vector<ModuleProbe> answering;
  std::vector<std::string> silent;
};

Result<Answers> ask_gpus(const Installed& installed, const Prober& prober) {
  Answers answers;
  for (const auto& module : installed.modules) {
    auto probe = prober({module, Depth::module, 0, {}});
    if (probe.problem && probe.problem->code == ErrorCode::interrupted) return *probe.problem;
    if (!probe.problem && probe.described("platform") == "cpu") continue;
    if (!probe.problem && probe.device_count > 0)
      answers.answering.push_back(std::move(probe));
    else
      answers.silent.push_back(module.name + ": " + reason_of(probe));
  }
  return answers;
}

Error no_gpu(const Answers& answers, const Installed& installed) {
  std::string reasons;
  for (const auto& reason : answers.silent) reasons += (reasons.empty() ? "" : "; ") + reason;
  if (reasons.empty()) {
    std::vector<std::string> places;
    for (const auto& folder : installed.folders) places.push_back(folder.string());
    reasons = "no GPU module is installed in " + listed(places);
  }
  return {ErrorCode::no_device, "no GPU answers (" + reasons + "); " + std::string(kHostHint)};
}

std::string names_of(const std::vector<ModuleProbe>& probes) {
  std::vector<std::string> names;
  for (const auto& probe : probes) names.push_back(probe.module.name);
  return listed(names);
}

Result<Chosen> choose_default(const Installed& installed, const Prober& prober) {
  const auto answers = ask_gpus(installed, prober);
  if (!answers) return answers.error();
  if (answers->answering.empty()) return no_gpu(*answers, installed);
  if (answers->answering.size() > 1)
    return Error{ErrorCode::usage, "backends " + names_of(answers->answering) +
                                       " all answer; choose one with --backend, or devices with --device"};
  auto device = chosen(answers->answering.front(), 0);
  if (!device) return device.error();
  return Chosen{std::move(*device)};
}

// Two modules of one platform show the same boards twice: the user must say which.
Result<Chosen> choose_all(const Installed& installed, const Prober& prober) {
  const auto answers = ask_gpus(installed, prober);
  if (!answers) return answers.error();
  if (answers->answering.empty()) return no_gpu(*answers, installed);
  Chosen devices;
  for (const auto& probe : answers->answering) {
    for (const auto& other : answers->answering)
      if (&other != &probe && other.described("platform") == probe.described("platform"))
        return Error{ErrorCode::usage, "modules " + names_of(answers->answering) +
                                           " show the same boards; name devices with --device instead of all"};
    for (std::int32_t ordinal = 0; ordinal < probe.device_count; ++ordinal) {
      auto device = chosen(probe, ordinal);
      if (!device) return device.error();
      devices.push_back(std::move(*device));
    }
  }
  return devices;
}

}  // namespace

bool means_uuid(std::string_view word, std::string_view uuid) {
  if (word == uuid) return true;
  const auto scheme = uuid.find(':');
  const auto bare = scheme == std::string_view::npos ? uuid : uuid.substr(scheme + 1);
  return word == bare || (word.size() >= 8 && bare.starts_with(word));
}

Installed installed_modules(const std::filesystem::path& program) {
  const char* path = std::getenv("ASSAY_MODULE_PATH");
  auto folders = search_folders(program, path == nullptr ? "" : path);
  auto modules = find_modules(folders);
  return {std::move(modules), std::move(folders)};
}

Result<Chosen> choose_devices(const DeviceRequest& request, const Installed& installed, const Prober& prober) {
  if (!request.backend.empty() && !request.devices.empty())
    return Error{ErrorCode::usage, "--backend and --device exclude each other; --device " + request.backend +
                                       ":0 is the first device of that backend"};
  if (!request.backend.empty() && split(request.backend).second)
    return Error{ErrorCode::usage, "--backend takes no device; write --device " + request.backend};
  auto words = request.devices;
  if (!request.backend.empty()) words.push_back(request.backend);
  if (words.empty()) return choose_default(installed, prober);
  Chosen devices;
  for (const auto& word : words) {
    Chosen found;
    if (word == "all") {
      auto all = choose_all(installed, prober);
      if (!all) return all.error();
      found = std::move(*all);
    } else {
      auto one = choose_named(word, installed, prober);
      if (!one) return one.error();
      found.push_back(std::move(*one));
    }
    for (auto& device : found) {
      if (std::any_of(devices.begin(), devices.end(), [&](const auto& known) {
            return known.planned.module_path == device.planned.module_path &&
                   known.planned.ordinal == device.planned.ordinal;
          }))
        return Error{ErrorCode::usage, "device " + device.planned.name + " is named twice; name it once"};
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

}  // namespace assay::modules
