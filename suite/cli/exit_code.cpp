// SPDX-License-Identifier: Apache-2.0
// The one table from errors to exit codes, and the precedence among outcomes.
#include "suite/cli/exit_code.hpp"

#include <algorithm>
#include <array>

namespace assay::cli {

Exit exit_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::unsupported:
      return Exit::usage;
    case ErrorCode::bad_input:
      return Exit::bad_input;
    case ErrorCode::no_device:
      return Exit::no_device;
    case ErrorCode::out_of_memory:
    case ErrorCode::map_limit:
    case ErrorCode::fault:
      return Exit::workload_failed;
    case ErrorCode::hung:
      return Exit::hung;
    case ErrorCode::wrong_result:
      return Exit::wrong_result;
    case ErrorCode::not_comparable:
      return Exit::not_comparable;
    case ErrorCode::output:
      return Exit::output;
    case ErrorCode::interrupted:
      return Exit::interrupted;
    case ErrorCode::internal:
      return Exit::internal;
  }
  return Exit::internal;
}

Exit strongest(std::initializer_list<Exit> outcomes) {
  // Weakest first; what is not listed outranks everything.
  constexpr std::array kOrder{Exit::done, Exit::inconclusive,    Exit::regression,
                              Exit::hung, Exit::workload_failed, Exit::wrong_result};
  const auto rank = [&](Exit exit) { return std::find(kOrder.begin(), kOrder.end(), exit) - kOrder.begin(); };
  return outcomes.size() == 0
             ? Exit::done
             : *std::max_element(outcomes.begin(), outcomes.end(), [&](Exit a, Exit b) { return rank(a) < rank(b); });
}

}  // namespace assay::cli
