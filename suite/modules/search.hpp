// SPDX-License-Identifier: Apache-2.0
// Where modules lie: libassay-<name>.so files in an ordered list of folders.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::modules {

// A module's file. The name is what stands between "libassay-" and ".so": "cuda", or "cuda-12.4" beside "cuda-13.0".
struct ModuleFile {
  std::string name;
  std::string path;
  bool operator==(const ModuleFile&) const = default;
};

// The folders of a program in the order they are searched: each of `module_path` (ASSAY_MODULE_PATH, separated by
// colons), the program's own folder, and ../lib/assay beside that.
[[nodiscard]] std::vector<std::filesystem::path> search_folders(const std::filesystem::path& program,
                                                                std::string_view module_path);

// Every module in these folders: in folder order, by name inside one. The first file of a name hides later ones.
// A folder that does not exist is passed over.
[[nodiscard]] std::vector<ModuleFile> find_modules(const std::vector<std::filesystem::path>& folders);

// The module a user means by BACKEND: a path when it holds a slash, an exact name, or the only name that begins with
// it and a dash. Errors: usage when several do, which it lists; no_device when none does.
[[nodiscard]] Result<ModuleFile> resolve(std::string_view backend, const std::vector<ModuleFile>& modules,
                                         const std::vector<std::filesystem::path>& folders);

// "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

}  // namespace assay::modules
