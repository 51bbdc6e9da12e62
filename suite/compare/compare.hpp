// SPDX-License-Identifier: Apache-2.0
// compare_sources: two series, identity first, then the verdict of every case, memory, and what matches nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "results-schema/types/compare.hpp"
#include "results-schema/types/result.hpp"
#include "suite/compare/baseline_file.hpp"
#include "suite/compare/series.hpp"

namespace assay::compare {

struct Options {
  double alpha = 0.05;
  double level = 0.95;
  double margin = 0.03;                     // of cases without one of their own
  std::int64_t memory_tolerance_bytes = 0;  // growth beyond it is a finding
  bool across = false;                      // a table of ratios between different things, without verdicts
  bool one_series = false;                  // both sides are launches of one interleaved run (duel, self-test)
  Baseline baseline;                        // margins and acceptances
  std::string today;                        // "2026-01-31", for acceptances that expire
};

// The comparison, whatever it says: that nothing may be compared is a result with exit code 3, its reasons listed.
// exit_code by the precedence of the design: 5 (a wrong result on either side), 6 and 7 (a launch of the candidate
// failed or hung), 1 (a regression or grown memory that is not accepted), 4, 0; 3 when nothing was comparable.
// Errors: bad_input (a launch given twice, a document without devices), not_comparable (documents that are no series).
[[nodiscard]] Result<Comparison> compare_sources(std::span<const Source> baseline, std::span<const Source> candidate,
                                                 const Options& options);

}  // namespace assay::compare
