// SPDX-License-Identifier: Apache-2.0
// Exit codes: what each means to a script, and which one an error maps to.
#pragma once

#include <initializer_list>

#include "results-schema/types/result.hpp"

namespace assay::cli {

enum class Exit : int {
  done = 0,
  regression = 1,
  no_device = 2,
  not_comparable = 3,
  inconclusive = 4,
  wrong_result = 5,
  workload_failed = 6,
  hung = 7,
  usage = 64,
  bad_input = 65,
  internal = 70,
  output = 73,
  interrupted = 130,
};

// The exit code of a command that ended with this error.
[[nodiscard]] Exit exit_of(ErrorCode code);

// Of several outcomes of one run the one to report: 5, then 6, 7, 1, 4, 0. Anything else (an interrupt, an output that
// cannot be written) is stronger than all of these. An empty list is `done`.
[[nodiscard]] Exit strongest(std::initializer_list<Exit> outcomes);

}  // namespace assay::cli
