// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, and never in the place of another.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/syscalls.hpp"

namespace assay::json {
namespace {

using detail::Syscalls;

constexpr mode_t kFileMode = 0666;  // less the umask
constexpr int kTemporaryAttempts = 16;

int libc_open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
int libc_rename_noreplace(const char* from, const char* to) {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

Error taken(const std::filesystem::path& path) {
  return detail::output_error(path.string() + " exists and is never overwritten; choose another output path");
}

Error cannot(const std::string& what, const std::filesystem::path& path, int error) {
  std::string next = "choose another output path";
  if (error == ENOSPC || error == EDQUOT) next = "free some space or choose another output path";
  if (error == EACCES || error == EPERM || error == EROFS) next = "choose a folder that you may write to";
  if (error == ENOENT) next = "create the folder first";
  return detail::output_error("cannot " + what + " " + path.string() + ": " + std::strerror(error) + "; " + next);
}

// Short and independent of the output's own name, which may be as long as the file system allows.
std::filesystem::path temporary_name(const std::filesystem::path& folder) {
  std::random_device random;
  char name[40];
  std::snprintf(name, sizeof name, ".assay-%08x%08x.tmp", static_cast<unsigned>(random()),
                static_cast<unsigned>(random()));
  return folder / name;
}

// Links `temporary` into place. A file system without RENAME_NOREPLACE gets a hard link, which does not replace either.
int place(const Syscalls& system, const std::filesystem::path& temporary, const std::filesystem::path& path) {
  if (system.rename_noreplace(temporary.c_str(), path.c_str()) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  if (system.link(temporary.c_str(), path.c_str()) != 0) return errno;
  // The document is in place; a second name of it that cannot be removed harms nothing.
  system.unlink(temporary.c_str());
  return 0;
}

// Content on disk under the temporary name. Returns 0 or an errno.
int fill(const Syscalls& system, int descriptor, std::string_view bytes) {
  int error = detail::write_all(system, descriptor, bytes);
  if (error == 0) error = detail::synced(system.fsync, descriptor);
  if (system.close(descriptor) != 0 && error == 0 && errno != EINTR) error = errno;
  return error;
}

}  // namespace

namespace detail {

const Syscalls& libc_syscalls() {
  static const Syscalls table{libc_open, ::write, ::fsync, ::fdatasync, ::close, libc_rename_noreplace,
                              ::link,    ::unlink};
  return table;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

int open_again(const Syscalls& system, const char* path, int flags, mode_t mode) {
  int descriptor = -1;
  do descriptor = system.open(path, flags, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

int write_all(const Syscalls& system, int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = system.write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int synced(int (*sync)(int), int descriptor) {
  while (sync(descriptor) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

int sync_folder(const Syscalls& system, const std::filesystem::path& folder) {
  const int descriptor = open_again(system, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int error = synced(system.fsync, descriptor);
  if (error == EINVAL || error == EOPNOTSUPP) error = 0;
  system.close(descriptor);
  return error;
}

Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, const Syscalls& system) {
  if (auto free = check_output(path); !free) return free;
  const std::filesystem::path folder = folder_of(path);
  std::filesystem::path temporary;
  int descriptor = -1;
  for (int attempt = 0; attempt < kTemporaryAttempts && descriptor < 0; ++attempt) {
    temporary = temporary_name(folder);
    descriptor = open_again(system, temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
    if (descriptor < 0 && errno != EEXIST) return cannot("create a file for", path, errno);
  }
  if (descriptor < 0)
    return output_error("cannot find a free temporary name in " + folder.string() + "; choose another folder");

  int error = fill(system, descriptor, bytes);
  if (error == 0) error = place(system, temporary, path);
  if (error != 0) {
    system.unlink(temporary.c_str());
    return error == EEXIST ? taken(path) : cannot("write", path, error);
  }
  if (const int unsynced = sync_folder(system, folder); unsynced != 0)
    return output_error(path.string() + " was written whole, but its folder could not be synced: " +
                        std::strerror(unsynced) + "; check the disk before you rely on it");
  return {};
}

}  // namespace detail

Result<void> check_output(const std::filesystem::path& path) {
  if (!path.has_filename())
    return detail::output_error("the output path \"" + path.string() + "\" names no file; add a file name");
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return detail::output_error(path.string() + " is a folder; add a file name");
    return taken(path);
  }
  if (errno != ENOENT && errno != ENOTDIR) return cannot("create", path, errno);
  const std::filesystem::path folder = detail::folder_of(path);
  if (::stat(folder.c_str(), &status) != 0) return cannot("create " + path.filename().string() + " in", folder, errno);
  if (!S_ISDIR(status.st_mode))
    return detail::output_error(folder.string() + " is not a folder; choose another output path");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return cannot("create a file in", folder, errno);
  return {};
}

Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes) {
  return detail::write_new_file(path, bytes, detail::libc_syscalls());
}

std::filesystem::path journal_path(const std::filesystem::path& output) {
  return output.string() + ".journal";
}

}  // namespace assay::json
