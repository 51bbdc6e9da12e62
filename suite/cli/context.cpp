// SPDX-License-Identifier: Apache-2.0
// Context of a real process, and the one way an error reaches the user.
#include "suite/cli/context.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "suite/report/printable.hpp"

namespace assay::cli {

Exit Context::fail(const Error& error) const {
  err << "assay: " << report::printable(error.text) << '\n' << std::flush;
  return exit_of(error.code);
}

Context process_context(int argc, const char* const* argv) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool plain =
      (no_color != nullptr && *no_color != '\0') || (term != nullptr && std::string_view(term) == "dumb");
  Context context{std::cout,
                  std::cerr,
                  {argv, argv + argc},
                  ::isatty(STDOUT_FILENO) == 1 && !plain,
                  ::isatty(STDERR_FILENO) == 1 && !(term != nullptr && std::string_view(term) == "dumb"),
                  {}};
  return context;
}

}  // namespace assay::cli
