// SPDX-License-Identifier: Apache-2.0
// Boards by their uuid; an unknown one is a board of its own.
#include "suite/compare/boards.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "suite/stats/summary.hpp"

namespace assay::compare {
namespace {

std::set<std::string> names(const TimedCase& timed) {
  std::set<std::string> out;
  for (const auto& launch : timed.launches) out.insert(launch.board);
  return out;
}

std::vector<double> medians_by_board(const TimedCase& timed) {
  std::map<std::string, std::vector<double>> values;
  for (const auto& launch : timed.launches) values[launch.board].push_back(launch.median);
  std::vector<double> out;
  for (const auto& [board, list] : values) out.push_back(stats::median(list));
  return out;
}

}  // namespace

BoardView boards_of(const TimedCase& baseline, const TimedCase& candidate) {
  const auto a = names(baseline);
  const auto b = names(candidate);
  return {a == b && a.size() <= 1, a == b && a.size() > 1, a.size(), b.size()};
}

int separated(const TimedCase& baseline, const TimedCase& candidate) {
  const auto a = medians_by_board(baseline);
  const auto b = medians_by_board(candidate);
  if (a.empty() || b.empty()) return 0;
  const auto [low_a, high_a] = std::minmax_element(a.begin(), a.end());
  const auto [low_b, high_b] = std::minmax_element(b.begin(), b.end());
  return *low_b > *high_a ? 1 : *high_b < *low_a ? -1 : 0;
}

Aligned aligned(const TimedCase& baseline, const TimedCase& candidate) {
  std::map<std::string, std::vector<double>> values;
  for (const auto* side : {&baseline, &candidate})
    for (const auto& launch : side->launches) values[launch.board].push_back(std::log(launch.median));
  std::map<std::string, double> level;
  for (const auto& [board, list] : values) level[board] = stats::median(list);
  Aligned out;
  for (const auto& launch : baseline.launches)
    out.baseline.push_back(std::exp(std::log(launch.median) - level[launch.board]));
  for (const auto& launch : candidate.launches)
    out.candidate.push_back(std::exp(std::log(launch.median) - level[launch.board]));
  return out;
}

std::vector<double> medians_of(const TimedCase& timed) {
  std::vector<double> out;
  out.reserve(timed.launches.size());
  for (const auto& launch : timed.launches) out.push_back(launch.median);
  return out;
}

}  // namespace assay::compare
