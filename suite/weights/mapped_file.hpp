// SPDX-License-Identifier: Apache-2.0
// MappedFile: a regular file's bytes, mapped read-only; only the pages that are read take memory.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "results-schema/types/result.hpp"

namespace assay::weights {

class MappedFile {
 public:
  // Errors: bad_input when the file is missing, unreadable, empty, or not a regular file (a pipe is never waited for).
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace assay::weights
