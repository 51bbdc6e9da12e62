// SPDX-License-Identifier: Apache-2.0
// Folder walks and names; nothing is loaded here.
#include "suite/modules/search.hpp"

#include <algorithm>

namespace assay::modules {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "libassay-";
constexpr std::string_view kSuffix = ".so";

std::optional<std::string> module_name(const fs::path& file) {
  const auto text = file.filename().string();
  if (text.size() <= kPrefix.size() + kSuffix.size() || !text.starts_with(kPrefix) || !text.ends_with(kSuffix))
    return std::nullopt;
  return text.substr(kPrefix.size(), text.size() - kPrefix.size() - kSuffix.size());
}

}  // namespace

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<fs::path> search_folders(const fs::path& program, std::string_view module_path) {
  std::vector<fs::path> folders;
  while (!module_path.empty()) {
    const auto colon = module_path.find(':');
    if (const auto folder = module_path.substr(0, colon); !folder.empty()) folders.emplace_back(folder);
    module_path = colon == std::string_view::npos ? std::string_view{} : module_path.substr(colon + 1);
  }
  const auto own = program.parent_path();
  folders.push_back(own);
  folders.push_back((own / ".." / "lib" / "assay").lexically_normal());
  return folders;
}

std::vector<ModuleFile> find_modules(const std::vector<fs::path>& folders) {
  std::vector<ModuleFile> modules;
  for (const auto& folder : folders) {
    std::vector<ModuleFile> here;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
      std::error_code ignored;
      const auto name = module_name(entry->path());
      if (name && !fs::is_directory(entry->path(), ignored)) here.push_back({*name, entry->path().string()});
    }
    std::sort(here.begin(), here.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (auto& module : here)
      if (std::none_of(modules.begin(), modules.end(), [&](const auto& known) { return known.name == module.name; }))
        modules.push_back(std::move(module));
  }
  return modules;
}

Result<ModuleFile> resolve(std::string_view backend, const std::vector<ModuleFile>& modules,
                           const std::vector<fs::path>& folders) {
  const std::string wanted(backend);
  if (wanted.find('/') != std::string::npos) {
    const fs::path path(wanted);
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      return Error{ErrorCode::no_device, "module " + wanted + " is not there; give the path of a libassay-<name>.so"};
    return ModuleFile{module_name(path).value_or(path.filename().string()), wanted};
  }
  std::vector<ModuleFile> versions;
  for (const auto& module : modules) {
    if (module.name == wanted) return module;
    if (module.name.starts_with(wanted + "-")) versions.push_back(module);
  }
  if (versions.size() == 1) return versions.front();
  if (versions.size() > 1) {
    std::vector<std::string> names;
    for (const auto& module : versions) names.push_back(module.name);
    return Error{ErrorCode::usage, "backend " + wanted + " could be " + listed(names) + "; name one of them"};
  }
  std::vector<std::string> places;
  for (const auto& folder : folders) places.push_back(folder.string());
  return Error{ErrorCode::no_device, "backend " + wanted + " is not installed: no libassay-" + wanted + ".so in " +
                                         listed(places) +
                                         "; build that module, or set ASSAY_MODULE_PATH to its folder"};
}

}  // namespace assay::modules
