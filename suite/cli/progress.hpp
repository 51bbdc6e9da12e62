// SPDX-License-Identifier: Apache-2.0
// Progress: one line on a terminal for what takes more than two seconds, nothing in a pipe.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string_view>

namespace assay::cli {

class Progress {
 public:
  // Draws on `stream` only when `enabled` (it is a terminal).
  Progress(std::ostream& stream, bool enabled) : stream_(stream), enabled_(enabled) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  void clear();

 private:
  std::ostream& stream_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace assay::cli
