// SPDX-License-Identifier: Apache-2.0
// Input: a file's bytes, gzip undone, with the position that messages name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "results-schema/types/result.hpp"

namespace assay::trace {

class Input {
 public:
  // Errors: bad_input when the file is missing, unreadable or a folder.
  static Result<Input> open(const std::string& path);

  // The first bytes, at most `count`, without consuming them.
  Result<std::string_view> peek(std::size_t count);
  // The next line without its end ("\n" or "\r\n"); false at the end. A line longer than 4 MiB is an error.
  Result<bool> line(std::string& out);
  // Up to `count` bytes; fewer only at the end.
  Result<std::size_t> read(char* out, std::size_t count);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  // An error that names the file and the current line.
  [[nodiscard]] Error at_line(std::string_view what) const;
  // An error that names the file and the current byte (after gzip was undone).
  [[nodiscard]] Error at_byte(std::string_view what) const;

 private:
  struct Closer {
    void operator()(void* file) const;
  };
  explicit Input(std::string path, void* file) : path_(std::move(path)), file_(file) {}
  Result<bool> refill();

  std::string path_;
  std::unique_ptr<void, Closer> file_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t line_number_ = 0;
  bool ended_ = false;
};

}  // namespace assay::trace
