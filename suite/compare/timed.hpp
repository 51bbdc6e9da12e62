// SPDX-License-Identifier: Apache-2.0
// The timed cases of pairs of series: matched, judged as one family, or listed with what keeps them from a verdict.
#pragma once

#include <cstddef>
#include <vector>

#include "suite/compare/cases.hpp"
#include "suite/compare/compare.hpp"
#include "suite/compare/pairs.hpp"

namespace assay::compare {

// A case that both series of a pair have.
struct Matched {
  std::size_t pair = 0;  // index into the pairs
  TimedCase baseline;
  TimedCase candidate;
};

// Every case of both series goes to the result; those of one only, or that differ in a thing, to `unmatched`.
[[nodiscard]] std::vector<Matched> match_timed(const std::vector<Pair>& pairs, std::vector<Unmatched>& unmatched);

// Judges all cases as one family, but those that something excludes: a wrong result, an anchor that drifted (or is
// missing) between sides that were measured one after the other, fewer than three different boards a side. Where boards
// differ a regression must also hold board by board: every board of one side beyond every board of the other. With
// `across` nothing is judged. Also sets the family's size and the fewest launches in `rule`.
[[nodiscard]] std::vector<ComparedCase> judge_timed(const std::vector<Pair>& pairs, const std::vector<Matched>& matched,
                                                    const Options& options, ComparedRule& rule);

// Peaks of both series, those of one only listed. With `across` nothing is appended.
void match_memory(const Pair& pair, const Options& options, std::vector<ComparedMemory>& memory,
                  std::vector<Unmatched>& unmatched);

}  // namespace assay::compare
