// SPDX-License-Identifier: Apache-2.0
// assay: the program's entry.
#include "suite/cli/program.hpp"

int main(int argc, char** argv) {
  auto context = assay::cli::process_context(argc, argv);
  return static_cast<int>(assay::cli::run_program(context));
}
