// SPDX-License-Identifier: Apache-2.0
// Where the optional data of real traces and models lies, and temporary files that clean up after themselves.
#pragma once

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace assay::test {

// The file below the shared data folder, or nothing where it is absent (the test then skips and says so). The folder is
// ASSAY_SHARED_DATA, or shared/data beside the source tree.
inline std::optional<std::filesystem::path> shared_data(std::string_view relative) {
  std::filesystem::path root;
  if (const char* given = std::getenv("ASSAY_SHARED_DATA"); given != nullptr)
    root = given;
  else if (const char* source = std::getenv("ASSAY_SOURCE_DIR"); source != nullptr)
    root = std::filesystem::path(source).parent_path() / "shared" / "data";
  const auto path = root / relative;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path;
}

// A folder of its own, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file into the folder and returns its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view bytes) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::test
