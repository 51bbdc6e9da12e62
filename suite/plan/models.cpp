// SPDX-License-Identifier: Apache-2.0
// Shipped models are found from the program's own path, so that a build tree and an installation behave alike.
#include "suite/plan/models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "suite/process/child.hpp"

namespace assay::planning {

namespace fs = std::filesystem;

Result<fs::path> models_folder() {
  auto program = process::own_path();
  if (!program) return program.error();
  return fs::path(*program).parent_path().parent_path() / "share" / "assay" / "models";
}

std::vector<std::string> shipped_models() {
  std::vector<std::string> names;
  const auto folder = models_folder();
  if (!folder) return names;
  std::error_code failure;
  for (fs::directory_iterator it(*folder, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code ignored;
    if (fs::exists(it->path() / "config.json", ignored)) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<model::Model> find_model(const std::string& name) {
  const auto shipped = shipped_models();
  if (std::find(shipped.begin(), shipped.end(), name) != shipped.end()) {
    auto found = model::load_model(*models_folder() / name);
    // The document says what was asked for, not where this machine keeps it; the hash identifies the file.
    if (found) found->source.path = name;
    return found;
  }
  std::error_code failure;
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (!is_path && !fs::exists(name, failure))
    return Error{
        ErrorCode::usage,
        fmt::format("there is no model \"{}\": it is neither shipped ({}) nor a folder or config.json here", name,
                    shipped.empty() ? "none found beside the program" : fmt::format("{}", fmt::join(shipped, ", ")))};
  return model::load_model(name);
}

}  // namespace assay::planning
