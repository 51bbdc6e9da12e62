// SPDX-License-Identifier: Apache-2.0
// Derived files: the rules of new files, and a replacement that never takes the place of a result.
#include "results-schema/json/derived_file.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <regex>
#include <string>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/syscalls.hpp"

namespace assay::json {
namespace {

// Documents and journals name their schema at their very beginning.
bool holds_result(const std::filesystem::path& path) {
  std::array<char, 4096> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string text(head.data(), static_cast<std::size_t>(file.gcount()));
  static const std::regex schema("^\\s*\\{[^]*\"schema\"\\s*:\\s*\"assay\"");
  return std::regex_search(text, schema);
}

bool is_there(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

std::filesystem::path sibling(const std::filesystem::path& path) {
  std::random_device random;
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), ".assay-derived-%08x%08x.tmp", static_cast<unsigned>(random()),
                static_cast<unsigned>(random()));
  return detail::folder_of(path) / name.data();
}

}  // namespace

Result<void> check_derived(const std::filesystem::path& path, bool replace) {
  if (!replace || !path.has_filename() || !is_there(path)) {
    auto free = check_output(path);
    if (free || !is_there(path) || std::filesystem::is_directory(path)) return free;
    return detail::output_error(path.string() + " exists; choose another output path, or replace it with --force");
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return detail::output_error(path.string() + " is no regular file and is not replaced; choose another output path");
  if (holds_result(path))
    return detail::output_error(path.string() +
                                " is an Assay document, and results are never overwritten; choose another output path");
  return check_output(sibling(path));
}

Result<void> write_derived(const std::filesystem::path& path, std::string_view bytes, bool replace) {
  if (auto allowed = check_derived(path, replace); !allowed) return allowed;
  if (!is_there(path)) return write_new_file(path, bytes);
  const auto temporary = sibling(path);
  if (auto written = write_new_file(temporary, bytes); !written) {
    // The reader knows the file by the name that was asked for.
    Error error = written.error();
    if (const auto at = error.text.find(temporary.string()); at != std::string::npos)
      error.text.replace(at, temporary.string().size(), path.string());
    return error;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return detail::output_error("cannot replace " + path.string() + ": " + std::strerror(error) +
                                "; choose another output path");
  }
  if (const int unsynced = detail::sync_folder(detail::libc_syscalls(), detail::folder_of(path)); unsynced != 0)
    return detail::output_error(path.string() + " was written whole, but its folder could not be synced: " +
                                std::strerror(unsynced) + "; check the disk before you rely on it");
  return {};
}

}  // namespace assay::json
