// SPDX-License-Identifier: Apache-2.0
// Context: what every command shares: where it prints, how, and the action the command line chose.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "results-schema/types/result.hpp"
#include "suite/cli/exit_code.hpp"

namespace assay::cli {

struct Context {
  std::ostream& out;              // results
  std::ostream& err;              // errors and progress, never results
  std::vector<std::string> argv;  // as typed, argv[0] included
  bool color = false;             // on `out`: a terminal, and NO_COLOR is unset or empty
  bool progress = false;          // `err` is a terminal: one progress line may be drawn there

  // Set by the callback of the command that was chosen; run once the whole command line has been accepted, so that a
  // command never starts on a line that is refused.
  std::function<Exit()> action;

  // Prints "assay: <sentence>" on err and gives the exit code of its kind.
  Exit fail(const Error& error) const;
};

// The context of a real process: standard streams, terminal or not, NO_COLOR, TERM=dumb.
[[nodiscard]] Context process_context(int argc, const char* const* argv);

}  // namespace assay::cli
