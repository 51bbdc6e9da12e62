// SPDX-License-Identifier: Apache-2.0
// assay: the program's entry.
#include <csignal>

#include "suite/cli/program.hpp"

int main(int argc, char** argv) {
  // A limit on the size of files is a full disk like any other: write() then says so, and the journal is kept.
  std::signal(SIGXFSZ, SIG_IGN);
  auto context = assay::cli::process_context(argc, argv);
  return static_cast<int>(assay::cli::run_program(context));
}
