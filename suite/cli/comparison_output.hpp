// SPDX-License-Identifier: Apache-2.0
// How a comparison leaves the program: on the screen in one of its forms, and as a document.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "results-schema/types/compare.hpp"
#include "suite/cli/context.hpp"

namespace assay::cli {

struct ComparisonOutput {
  std::string document;          // where to write the compare document; empty: nowhere
  std::string format = "table";  // table, markdown, junit, csv
  bool json = false;
  bool redact = false;
};

// --format, --json, --redact.
void add_comparison_form(CLI::App& command, ComparisonOutput& output);
// The same and --output.
void add_comparison_output(CLI::App& command, ComparisonOutput& output);

// Nothing may be compared that could not be kept. Errors: output.
Result<void> check_comparison_output(const ComparisonOutput& output);

// Prints and writes; the exit code is the comparison's, or that of a failure to write.
Exit give_comparison(Comparison comparison, const ComparisonOutput& output, const Context& context);

// In the form of this name.
[[nodiscard]] std::string in_form(const Comparison& comparison, const std::string& format, bool color);

}  // namespace assay::cli
