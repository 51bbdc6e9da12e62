// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, and never in the place of another.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "results-schema/json/guard.hpp"
#include "results-schema/json/json.hpp"
#include "results-schema/json/syscalls.hpp"

namespace assay::json {
namespace {

using detail::Syscalls;

constexpr mode_t kFileMode = 0666;  // less the umask

int libc_open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
int libc_rename_noreplace(const char* from, const char* to) {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
int libc_link_descriptor(int descriptor, const char* to) {
  // AT_EMPTY_PATH would need a capability; the descriptor's name in /proc does not.
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  return ::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

Error taken(const std::filesystem::path& path) {
  return detail::output_error(path.string() + " exists and is never overwritten; choose another output path");
}

Error cannot(const std::string& what, const std::filesystem::path& path, int error) {
  std::string next = "choose another output path";
  if (error == ENOSPC || error == EDQUOT) next = "free some space or choose another output path";
  if (error == EACCES || error == EPERM || error == EROFS) next = "choose a folder that you may write to";
  if (error == EMFILE || error == ENFILE) next = "raise the limit on open files (ulimit -n)";
  if (error == ENOENT) next = "create the folder first";
  return detail::output_error("cannot " + what + " " + path.string() + ": " + std::strerror(error) + "; " + next);
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

// Content on disk. Returns 0 or an errno; the descriptor stays open.
int fill(const Syscalls& system, int descriptor, std::string_view bytes) {
  const int error = detail::write_all(system, descriptor, bytes);
  return error != 0 ? error : detail::synced(system.fsync, descriptor);
}

// A file without a name, which gets its name once it is whole: a process killed at any moment leaves nothing behind.
// Returns 0, an errno, or nothing when this file system has no such files.
std::optional<int> write_nameless(const Syscalls& system, const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor =
      detail::open_again(system, detail::folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kFileMode);
  if (descriptor < 0) {
    const bool lacking = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
    return lacking ? std::nullopt : std::optional<int>(errno);
  }
  std::optional<int> error = fill(system, descriptor, bytes);
  if (*error == 0 && system.link_descriptor(descriptor, path.c_str()) != 0) {
    error = errno;
    if (error == ENOENT) error.reset();  // no /proc
  }
  system.close(descriptor);  // after a sync there is nothing that closing could lose
  return error;
}

// The same under a temporary name. A file of that name is what a killed process left, or another's that is being
// written; its lock tells. Returns 0 or an errno.
int write_named(const Syscalls& system, const std::filesystem::path& path, std::string_view bytes) {
  remove_leftover(path);
  const auto temporary = detail::temporary_name(path);
  const int descriptor =
      detail::open_again(system, temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  if (descriptor < 0) return errno;
  // Nobody removes or renames a file that another has locked; before the lock it may be taken for a leftover.
  if (!detail::lock(descriptor) || !detail::is_at(descriptor, temporary)) {
    system.close(descriptor);
    return EEXIST;
  }
  int error = fill(system, descriptor, bytes);
  if (error == 0) error = place(system, temporary, path);
  if (error != 0) system.unlink(temporary.c_str());
  system.close(descriptor);
  return error;
}

}  // namespace

namespace detail {

const Syscalls& libc_syscalls() {
  static const Syscalls table{
      libc_open, ::write, ::fsync, ::fdatasync, ::close, libc_rename_noreplace, ::link, libc_link_descriptor, ::unlink};
  return table;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  // FNV-1a of the output's own name, which may be as long as the file system allows.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path.filename().string()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  char name[40];
  std::snprintf(name, sizeof name, ".assay-%016llx.tmp", static_cast<unsigned long long>(hash));
  return folder_of(path) / name;
}

bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(descriptor, &open_file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

bool lock(int descriptor) {
  int result = -1;
  do result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
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
  const auto nameless = write_nameless(system, path, bytes);
  const int error = nameless ? *nameless : write_named(system, path, bytes);
  if (error != 0) return error == EEXIST ? taken(path) : cannot("write", path, error);
  if (const int unsynced = sync_folder(system, folder_of(path)); unsynced != 0)
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

void remove_leftover(const std::filesystem::path& output) {
  const auto temporary = detail::temporary_name(output);
  const int descriptor = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  if (detail::lock(descriptor) && detail::is_at(descriptor, temporary)) ::unlink(temporary.c_str());
  ::close(descriptor);
}

std::filesystem::path journal_path(const std::filesystem::path& output) {
  return output.string() + ".journal";
}

}  // namespace assay::json
