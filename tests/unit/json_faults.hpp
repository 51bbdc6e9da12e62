// SPDX-License-Identifier: Apache-2.0
// System calls that go wrong on purpose: the n-th call fails, the process dies at it, or writes come out short.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "results-schema/json/syscalls.hpp"

namespace assay::test {

// What the table below does; a table of plain functions needs a place outside of them.
struct Faults {
  enum class Act { none, fail, kill, kill_after };
  Act act = Act::none;
  int at = 0;  // the call that goes wrong, counted from 1 over all kinds
  int error = EIO;
  int calls = 0;           // made so far
  std::size_t most = 0;    // bytes one write takes; 0: all
  bool interrupt = false;  // every second write, sync and open is interrupted first
  bool no_rename = false;  // the file system lacks RENAME_NOREPLACE
  bool names = false;      // the file system lacks files without a name
  std::string trace;       // one letter a call
};

inline Faults& faults() {
  static Faults state;
  return state;
}

// Counts a call and says whether it must fail instead of being made.
inline bool goes_wrong(char kind) {
  Faults& state = faults();
  state.trace += kind;
  if (++state.calls != state.at) return false;
  if (state.act == Faults::Act::kill) ::raise(SIGKILL);
  errno = state.error;
  return state.act == Faults::Act::fail;
}

// Dies right after the call was made.
inline void maybe_die() {
  const Faults& state = faults();
  if (state.act == Faults::Act::kill_after && state.calls == state.at) ::raise(SIGKILL);
}

inline bool interrupted() {
  static bool odd = false;
  if (!faults().interrupt) return false;
  odd = !odd;
  if (odd) errno = EINTR;
  return odd;
}

inline const json::detail::Syscalls& faulty_syscalls() {
  static const json::detail::Syscalls real = json::detail::libc_syscalls();
  static const json::detail::Syscalls table{
      .open =
          [](const char* path, int flags, mode_t mode) {
            if (interrupted() || goes_wrong('o')) return -1;
            if (faults().names && (flags & O_TMPFILE) == O_TMPFILE) {
              maybe_die();
              errno = EOPNOTSUPP;
              return -1;
            }
            const int descriptor = real.open(path, flags, mode);
            maybe_die();
            return descriptor;
          },
      .write = [](int descriptor, const void* bytes, std::size_t count) -> ssize_t {
        if (interrupted() || goes_wrong('w')) return -1;
        const std::size_t most = faults().most;
        const ssize_t written = real.write(descriptor, bytes, most != 0 && count > most ? most : count);
        maybe_die();
        return written;
      },
      .fsync =
          [](int descriptor) {
            if (interrupted() || goes_wrong('s')) return -1;
            const int result = real.fsync(descriptor);
            maybe_die();
            return result;
          },
      .fdatasync =
          [](int descriptor) {
            if (interrupted() || goes_wrong('d')) return -1;
            const int result = real.fdatasync(descriptor);
            maybe_die();
            return result;
          },
      .close =
          [](int descriptor) {
            const bool wrong = goes_wrong('c');
            const int error = errno;
            const int result = real.close(descriptor);  // a failing close closes too
            maybe_die();
            if (wrong) errno = error;
            return wrong ? -1 : result;
          },
      .rename_noreplace =
          [](const char* from, const char* to) {
            if (goes_wrong('r')) return -1;
            if (faults().no_rename) {
              maybe_die();
              errno = EINVAL;
              return -1;
            }
            const int result = real.rename_noreplace(from, to);
            maybe_die();
            return result;
          },
      .link =
          [](const char* from, const char* to) {
            if (goes_wrong('l')) return -1;
            const int result = real.link(from, to);
            maybe_die();
            return result;
          },
      .link_descriptor =
          [](int descriptor, const char* to) {
            if (goes_wrong('L')) return -1;
            const int result = real.link_descriptor(descriptor, to);
            maybe_die();
            return result;
          },
      .unlink =
          [](const char* path) {
            if (goes_wrong('u')) return -1;
            const int result = real.unlink(path);
            maybe_die();
            return result;
          }};
  return table;
}

// An empty folder of one test, gone at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) pattern.clear();
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] int entries() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::test
