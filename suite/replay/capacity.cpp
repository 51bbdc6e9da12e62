// SPDX-License-Identifier: Apache-2.0
// Bisection over the device's size, all policies in one pass a step.
#include "suite/replay/capacity.hpp"

#include <memory>

namespace assay::replay {
namespace {

constexpr std::size_t kStep = std::size_t{2} << 20;

struct Search {
  std::size_t too_small;  // in steps
  std::size_t enough;
  std::unique_ptr<PolicyReplay> replay;
  [[nodiscard]] bool done() const { return enough - too_small <= 1; }
  [[nodiscard]] std::size_t middle() const { return too_small + (enough - too_small) / 2; }
};

Result<void> try_middles(const TraceInput& trace, const std::vector<PolicyOutcome>& outcomes,
                         std::vector<Search>& searches) {
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (searches[i].done()) continue;
    auto made = PolicyReplay::create(outcomes[i].choice, outcomes[i].device, searches[i].middle() * kStep, false);
    if (!made) return made.error();
    searches[i].replay = std::move(*made);
    searches[i].replay->begin(trace.beginning());
  }
  auto read = trace.each([&](const EventChunk& chunk) {
    bool any = false;
    for (Search& search : searches) {
      if (search.replay == nullptr || search.replay->ended()) continue;
      search.replay->take(chunk);
      any = any || !search.replay->ended();
    }
    return any;
  });
  if (!read) return read;
  for (Search& search : searches) {
    if (search.replay == nullptr) continue;
    (search.replay->refusal() ? search.too_small : search.enough) = search.middle();
    search.replay.reset();
  }
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> least_capacities(const TraceInput& trace,
                                                   const std::vector<PolicyOutcome>& outcomes) {
  std::vector<Search> searches;
  for (const PolicyOutcome& outcome : outcomes) {
    const std::size_t least = outcome.peaks.requested_bytes / kStep;  // one step less than what is requested
    searches.push_back({least == 0 ? 0 : least - 1, (outcome.peaks.reserved_bytes + kStep - 1) / kStep, nullptr});
  }
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (const Search& search : searches) all_done = all_done && search.done();
    if (all_done) break;
    if (auto tried = try_middles(trace, outcomes, searches); !tried) return tried.error();
  }
  std::vector<std::int64_t> bytes;
  for (const Search& search : searches) bytes.push_back(static_cast<std::int64_t>(search.enough * kStep));
  return bytes;
}

}  // namespace assay::replay
