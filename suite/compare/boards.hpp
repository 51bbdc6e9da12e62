// SPDX-License-Identifier: Apache-2.0
// What several boards of one model mean for a case: whether they may be judged at all, and what must hold board by
// board.
#pragma once

#include <cstddef>
#include <vector>

#include "suite/compare/cases.hpp"

namespace assay::compare {

// Boards of one model differ by several per cent, so fewer than this a side decide nothing where they differ.
inline constexpr std::size_t kFewestBoards = 3;

struct BoardView {
  bool one_board = true;     // both sides on one and the same board
  bool same_boards = false;  // both sides on the same several boards
  std::size_t baseline = 0;
  std::size_t candidate = 0;
};
[[nodiscard]] BoardView boards_of(const TimedCase& baseline, const TimedCase& candidate);

// Every board's median on one side lies beyond every board's on the other: upwards (+1), downwards (-1), or not (0).
[[nodiscard]] int separated(const TimedCase& baseline, const TimedCase& candidate);

// Medians with their board's own level divided out: the geometric middle of all its launches on both sides, a symmetric
// function of them, so that exchanging launches within a board changes no level (Hodges and Lehmann, "Rank methods for
// combination of independent experiments in analysis of variance", Annals of Mathematical Statistics 33, 1962).
struct Aligned {
  std::vector<double> baseline;
  std::vector<double> candidate;
};
[[nodiscard]] Aligned aligned(const TimedCase& baseline, const TimedCase& candidate);

[[nodiscard]] std::vector<double> medians_of(const TimedCase& timed);

}  // namespace assay::compare
