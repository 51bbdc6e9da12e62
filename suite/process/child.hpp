// SPDX-License-Identifier: Apache-2.0
// run_child: one child process with a time limit, its report lines read from a pipe, never left behind as an orphan.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/types/result.hpp"

namespace assay::process {

// The descriptor on which a child reports, one line an entry.
inline constexpr int kReportDescriptor = 3;

struct ChildRequest {
  std::vector<std::string> argv;            // argv[0] is the program's path
  std::string input;                        // fed to its standard input, then closed
  std::chrono::milliseconds time_limit{0};  // 0: none
  // Called for each complete line the child reports, in order, from the calling thread.
  std::function<void(std::string_view line)> on_line;
  // Called once the child runs, with its process id.
  std::function<void(std::int64_t pid)> on_start = {};
};

enum class ChildEnd { exited, signalled, timed_out, interrupted };

struct ChildResult {
  ChildEnd end = ChildEnd::exited;
  int exit_code = 0;  // when exited
  int signal = 0;     // when signalled; SIGKILL when we stopped it
  std::int64_t pid = 0;
  std::int64_t duration_ns = 0;
  std::string error_tail;  // the last 4 KiB of its standard error
};

// Runs the child in its own process group, waits for it, and kills the whole group at the limit or on an interrupt of
// ours; the child dies with its parent (PR_SET_PDEATHSIG). Errors: internal when it cannot be started.
Result<ChildResult> run_child(const ChildRequest& request);

// The path of the running program, for children that are this program again.
Result<std::string> own_path();

}  // namespace assay::process
