// SPDX-License-Identifier: Apache-2.0
// Pairs: which series of the candidate stands against which of the baseline, and whether it may.
#pragma once

#include <vector>

#include "results-schema/types/compare.hpp"
#include "suite/compare/series.hpp"

namespace assay::compare {

struct Pair {
  const Series* baseline = nullptr;
  const Series* candidate = nullptr;
  ComparedPair said;  // for the document
};

struct Pairing {
  std::vector<Pair> pairs;            // that may be compared; with `across`, that may stand in one table
  std::vector<ComparedPair> refused;  // the nearest partner of each series that found none, and why it is none
  std::vector<const Series*> alone_in_baseline;
  std::vector<const Series*> alone_in_candidate;
};

struct PairingOptions {
  bool one_series = false;  // both sides are launches of one interleaved run
  bool across = false;      // different things may stand side by side; invalid ones may not
};

// Each series is used once; the same thing is preferred to one after a change, few changes to many.
[[nodiscard]] Pairing pair_up(const std::vector<Series>& baseline, const std::vector<Series>& candidate,
                              const PairingOptions& options);

}  // namespace assay::compare
