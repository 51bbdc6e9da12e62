// SPDX-License-Identifier: Apache-2.0
// assay: the program's entry.
#include <unistd.h>

#include <csignal>

#include "suite/cli/program.hpp"
#include "suite/process/surroundings.hpp"

int main(int argc, char** argv) {
  assay::process::keep_standard_descriptors();
  if (const auto enough = assay::process::check_limits(); !enough) {
    // Without the streams of the library: there may be no stack for them.
    const auto text = "assay: " + enough.error().text + "\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    return static_cast<int>(assay::cli::exit_of(enough.error().code));
  }
  // A limit on the size of files is a full disk like any other: write() then says so, and the journal is kept.
  std::signal(SIGXFSZ, SIG_IGN);
  auto context = assay::cli::process_context(argc, argv);
  return static_cast<int>(assay::cli::run_program(context));
}
