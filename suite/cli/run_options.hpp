// SPDX-License-Identifier: Apache-2.0
// The options `assay run` and `assay measure` share, and what both do with them.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "results-schema/types/document.hpp"
#include "suite/cli/context.hpp"
#include "suite/measure/instruments.hpp"
#include "suite/plan/request.hpp"

namespace assay::cli {

struct RunOptions {
  planning::Request request;
  DocumentKind kind = DocumentKind::run;
  std::string output;  // empty: a name is made
  std::string resume;  // a journal, or a partial document
  measure::Instruments instruments;
  bool dry_run = false;
  bool json = false;  // print the document instead of the summary
};

// Everything but --suite and --plan.
void add_run_options(CLI::App& command, RunOptions& options);

// Request, plan, run, document, summary; every refusal before anything is measured.
Exit run_plan(const RunOptions& options, const Context& context);

}  // namespace assay::cli
