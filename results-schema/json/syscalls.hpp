// SPDX-License-Identifier: Apache-2.0
// The few system calls that put bytes on disk, as a table: tests make the n-th call fail, or the process die at it.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::json::detail {

// Every member has the contract of the libc function of its name: -1 and errno on failure.
struct Syscalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int descriptor, const void* bytes, std::size_t count);
  int (*fsync)(int descriptor);
  int (*fdatasync)(int descriptor);
  int (*close)(int descriptor);
  int (*rename_noreplace)(const char* from, const char* to);  // renameat2 with RENAME_NOREPLACE
  int (*link)(const char* from, const char* to);
  int (*link_descriptor)(int descriptor, const char* to);  // linkat of a file that has no name yet
  int (*unlink)(const char* path);
};

const Syscalls& libc_syscalls();

// write_new_file over a given table.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, const Syscalls& system);

// Opens, again when a signal interrupts. Returns the descriptor, or -1 and errno.
int open_again(const Syscalls& system, const char* path, int flags, mode_t mode);

// Writes all of `bytes`, whatever the number of short writes and interruptions. Returns 0 or an errno.
int write_all(const Syscalls& system, int descriptor, std::string_view bytes);

// Syncs with fsync or fdatasync, again when a signal interrupts. Returns 0 or an errno.
int synced(int (*sync)(int), int descriptor);

// Makes an entry of a folder durable. Returns 0 or an errno; a file system that cannot sync folders counts as done.
int sync_folder(const Syscalls& system, const std::filesystem::path& folder);

// Whether `path` itself, links not followed, is the file that `descriptor` has open.
bool is_at(int descriptor, const std::filesystem::path& path);

// Tries to lock the open file for this process alone (flock). False when another process holds a lock of it; a file
// system without locks counts as locked.
bool lock(int descriptor);

// The name of the file that becomes `path` where the file system has no files without a name: one name an output, so
// that what a killed process left is found again.
std::filesystem::path temporary_name(const std::filesystem::path& path);

// "." for a bare file name.
std::filesystem::path folder_of(const std::filesystem::path& path);

}  // namespace assay::json::detail
